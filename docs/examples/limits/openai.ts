import { OpenAI } from "openai";

const client = new OpenAI({
  baseURL: process.env["PARLEY_URL"],
  apiKey: process.env["PARLEY_KEY"],
});

const { data, response } = await client.chat.completions
  .create({
    model: "vendor/model-1",
    messages: [{ role: "user", content: "What is a reentrancy attack?" }],
  })
  .withResponse();
console.log(data.choices[0]?.message.content);
for (const unit of ["requests", "tokens"]) {
  const limit = response.headers.get(`x-ratelimit-limit-${unit}`);
  const remaining = response.headers.get(`x-ratelimit-remaining-${unit}`);
  const reset = response.headers.get(`x-ratelimit-reset-${unit}`);
  console.log(`${remaining} of ${limit} ${unit} left, all again in ${reset}`);
}
