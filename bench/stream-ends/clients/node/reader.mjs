import { readStream } from "./read-stream.ts";
import { each, messages, model } from "./shared.mjs";

await each(async (url, say) => {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, messages, stream: true }),
  });
  for await (const { choices } of readStream(response.body)) await say(choices[0]?.delta.content ?? "");
});
