import { OpenAI } from "openai";

const client = new OpenAI({
  baseURL: process.env["PARLEY_URL"],
  apiKey: process.env["PARLEY_KEY"],
});

const { data, response } = await client.chat.completions
  .create({
    model: "vendor/model-1",
    messages: [{ role: "user", content: "What is a reentrancy attack?" }],
    store: true,
  })
  .withResponse();
console.log(data.choices[0]?.message.content);
console.log(`Without effect: ${response.headers.get("x-ignored-params")}`);
