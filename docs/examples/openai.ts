import { OpenAI } from "openai";

const openai = new OpenAI({
  baseURL: process.env["PARLEY_URL"] ?? "http://127.0.0.1:8080/v1",
  apiKey: process.env["PARLEY_KEY"],
});
const stream = await openai.chat.completions.create({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "What is a reentrancy attack?" }],
  stream: true,
});
for await (const chunk of stream)
  process.stdout.write(chunk.choices[0]?.delta.content ?? "");
