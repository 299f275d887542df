import { createParley } from "@parley/client";

const parley = createParley();
const { requestId = "" } = await parley
  .create({
    model: "vendor/model-1",
    messages: [{ role: "user", content: "What is a reentrancy attack?" }],
  })
  .withResponse();

const { outcome, cost_usd } = await parley.receipt(requestId);
console.log(`${outcome}: ${cost_usd} US dollars`);
