import { OpenAI } from "openai";

const client = new OpenAI({
  baseURL: process.env["PARLEY_URL"],
  apiKey: process.env["PARLEY_KEY"],
});

const answer = await client.chat.completions.create({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "What is a reentrancy attack?" }],
  reasoning_effort: "low",
});
// The SDK's types do not have the reasoning.
const message = answer.choices[0]?.message as {
  reasoning?: string;
  content: string;
};
console.log(`Reasoning: ${message.reasoning}`);
console.log(message.content);
