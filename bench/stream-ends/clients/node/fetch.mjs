import { each, messages, model } from "./shared.mjs";
import { say as sayEvents } from "./events.mjs";

await each(async (url, say) => {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, messages, stream: true }),
  });
  for await (const bytes of response.body) await sayEvents(Buffer.from(bytes), say);
});
