import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";
import { describe, each, model } from "./shared.mjs";

await each(async (baseURL, say) => {
  const provider = createOpenAICompatible({ name: "measured", baseURL, apiKey: "sk-measured" });
  const reports = [];
  const { fullStream } = streamText({
    model: provider(model),
    prompt: "x",
    onError: ({ error }) => void reports.push(`onError ${typeof error === "string" ? error : describe(error)}`),
  });
  try {
    for await (const part of fullStream) {
      if (part.type === "text-delta") await say(part.text);
      if (part.type === "error") reports.push(`part ${describe(part.error)}`);
    }
  } catch (error) {
    reports.push(`thrown ${describe(error)}`);
  }
  return reports.length === 0 ? undefined : reports.join(" + ");
});
