import { ChatOpenAI } from "@langchain/openai";
import { each, model } from "./shared.mjs";

await each(async (baseURL, say) => {
  const chat = new ChatOpenAI({ model, apiKey: "sk-measured", configuration: { baseURL } });
  for await (const chunk of await chat.stream("x")) await say(chunk.text);
});
