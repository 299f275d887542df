import { createParley } from "@parley/client";

const parley = createParley();
const { id, context_length, pricing } = await parley.model("vendor/model-1");
console.log(`${id}: ${context_length} tokens, $${pricing.prompt} a prompt token`);
