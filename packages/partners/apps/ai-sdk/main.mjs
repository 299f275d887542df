import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText } from "ai";

const parley = createOpenAICompatible({
  name: "parley",
  baseURL: process.env.PARLEY_URL,
  apiKey: process.env.PARLEY_KEY,
});
const { text } = await generateText({
  model: parley("vendor/model-1"),
  prompt: "What is a reentrancy attack?",
});
console.log(text);
