import { randomUUID } from "node:crypto";
import { createParley } from "@parley/client";

const parley = createParley({ maxRetries: 4 });

// A name for this call. Each retry of the client sends it again.
const headers = { "Idempotency-Key": randomUUID() };
const { data, response } = await parley
  .create(
    {
      model: "vendor/model-1",
      messages: [{ role: "user", content: "What is a reentrancy attack?" }],
    },
    { headers },
  )
  .withResponse();
console.log(data.choices[0]?.message.content);
if (response.headers.get("idempotent-replayed") === "true")
  console.log("A first answer was lost, and was not charged twice.");
