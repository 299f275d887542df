import { OpenAI } from "openai";

const client = new OpenAI({
  baseURL: process.env["PARLEY_URL"],
  apiKey: process.env["PARLEY_KEY"],
});

const answer = await client.chat.completions.create({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "What is a reentrancy attack?" }],
});
console.log(answer.choices[0]?.message.content);
