import { OpenAI } from "openai";

const client = new OpenAI({
  baseURL: process.env["PARLEY_URL"],
  apiKey: process.env["PARLEY_KEY"],
});

interface Assessment {
  risk: "low" | "high";
  reasons: string[];
}
const schema = {
  type: "object",
  properties: {
    risk: { enum: ["low", "high"] },
    reasons: { type: "array", items: { type: "string" } },
  },
  required: ["risk", "reasons"],
  additionalProperties: false,
};
const answer = await client.chat.completions.create({
  model: "vendor/model-1",
  messages: [
    {
      role: "user",
      content: "The bridge is not audited, and one key can drain it.",
    },
  ],
  response_format: {
    type: "json_schema",
    json_schema: { name: "assessment", schema },
  },
});
const [choice] = answer.choices;
if (choice?.finish_reason !== "stop") throw new Error("The JSON is not complete.");
// The service has enforced this type.
const assessment = JSON.parse(choice.message.content ?? "") as Assessment;
console.log(`The risk is ${assessment.risk}.`, ...assessment.reasons);
