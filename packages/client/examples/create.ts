import { createParley } from "@parley/client";

// The address comes from PARLEY_URL, such as https://api.example.com/v1,
// and the key from PARLEY_KEY.
const parley = createParley();

const { choices, usage } = await parley.create({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "What is a reentrancy attack?" }],
});
console.log(choices[0]?.message.content);
console.log(`${usage.total_tokens} tokens, ${usage.cost_usd} US dollars`);
