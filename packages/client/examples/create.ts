import { createParley } from "@parley/client";

const parley = createParley({
  baseURL: process.env["PARLEY_URL"] ?? "http://127.0.0.1:8080/v1",
  apiKey: process.env["PARLEY_KEY"] ?? "",
});

const { choices, usage } = await parley.create({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "What is a reentrancy attack?" }],
});
console.log(choices[0]?.message.content);
console.log(`${usage.total_tokens} tokens, ${usage.cost_usd} US dollars`);
