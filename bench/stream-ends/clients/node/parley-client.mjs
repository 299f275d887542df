import { createParley } from "./parley-client/index.ts";
import { each, messages, model } from "./shared.mjs";

await each(async (baseURL, say) => {
  const parley = createParley({ baseURL, apiKey: "sk-measured" });
  for await (const { choices } of parley.stream({ model, messages })) await say(choices[0]?.delta.content ?? "");
});
