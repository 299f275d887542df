import { createParley } from "@parley/client";

const parley = createParley({
  baseURL: process.env["PARLEY_URL"] ?? "http://127.0.0.1:8080/v1",
  apiKey: process.env["PARLEY_KEY"] ?? "",
});

const chunks = parley.stream({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "What is a reentrancy attack?" }],
});
for await (const { choices } of chunks) process.stdout.write(choices[0]?.delta.content ?? "");
