import { createParley, jsonFormat } from "@parley/client";
import { z } from "zod";

const parley = createParley();

const assessment = jsonFormat({
  name: "assessment",
  schema: z.strictObject({
    risk: z.enum(["low", "high"]),
    reasons: z.array(z.string()),
  }),
});
const { parsed } = await parley.parse({
  model: "vendor/model-1",
  messages: [
    {
      role: "user",
      content: "The bridge is not audited, and one key can drain it.",
    },
  ],
  response_format: assessment,
});
console.log(parsed.risk, parsed.reasons);
