import { createParley } from "@parley/client";

const parley = createParley();

const { choices } = await parley.create({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "What is a reentrancy attack?" }],
  reasoning_effort: "low",
});
console.log(`Reasoning: ${choices[0]?.message.reasoning}`);
console.log(choices[0]?.message.content);
