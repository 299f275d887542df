import { createParley } from "@parley/client";

const parley = createParley();
for (const { id, is_ready } of await parley.models())
  console.log(`${id}: ${is_ready ? "ready" : "not ready"}`);
