import { createParley } from "@parley/client";

const parley = createParley();
const question = { role: "user", content: "What is a reentrancy attack?" } as const;
const chunks = parley.stream({ model: "vendor/model-1", messages: [question] });
for await (const { choices } of chunks)
  process.stdout.write(choices[0]?.delta.content ?? "");
