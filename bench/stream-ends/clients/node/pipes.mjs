import { EventSourceParserStream } from "eventsource-parser/stream";
import { each, messages, model } from "./shared.mjs";

// As the programs of packages/partners read.
await each(async (url, say) => {
  const { body } = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, messages, stream: true }),
  });
  for await (const { data } of body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())) {
    if (data === "[DONE]") return;
    const event = JSON.parse(data);
    if ("error" in event) throw new Error(event.error.message);
    await say(event.choices[0].delta.content ?? "");
  }
});
