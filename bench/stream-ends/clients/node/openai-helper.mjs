import OpenAI from "openai";
import { each, messages, model } from "./shared.mjs";

await each(async (baseURL, say) => {
  const openai = new OpenAI({ baseURL, apiKey: "sk-measured" });
  const stream = openai.chat.completions.stream({ model, messages });
  stream.on("content", say);
  await stream.finalChatCompletion();
});
