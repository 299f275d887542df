import { createParley } from "@parley/client";

const parley = createParley();

const chunks = parley.stream({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "What is a reentrancy attack?" }],
});
for await (const { choices } of chunks) process.stdout.write(choices[0]?.delta.content ?? "");
