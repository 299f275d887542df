import { randomUUID } from "node:crypto";
import { OpenAI } from "openai";

const client = new OpenAI({
  baseURL: process.env["PARLEY_URL"],
  apiKey: process.env["PARLEY_KEY"],
  maxRetries: 4,
});

// A name for this call. Each retry of the SDK sends it again.
const headers = { "Idempotency-Key": randomUUID() };
const { data, response } = await client.chat.completions
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
