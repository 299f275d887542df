import { createParley } from "@parley/client";

const parley = createParley();
const { limits, budgets } = await parley.key();
const { remaining, limit } = limits.requests;
console.log(`${remaining} of ${limit} requests left`);
for (const { remaining_usd, limit_usd } of budgets)
  console.log(`${remaining_usd} of ${limit_usd} US dollars left`);
