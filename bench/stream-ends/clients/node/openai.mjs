import OpenAI from "openai";
import { each, messages, model } from "./shared.mjs";

await each(async (baseURL, say) => {
  const openai = new OpenAI({ baseURL, apiKey: "sk-measured" });
  const stream = await openai.chat.completions.create({ model, messages, stream: true });
  for await (const chunk of stream) await say(chunk.choices[0]?.delta.content ?? "");
});
