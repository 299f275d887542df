import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { RetryError, generateText, jsonSchema, streamText, tool } from "ai";
import { repeat, serve, sleep } from "./adapter.mjs";

function describe(thrown) {
  const error = RetryError.isInstance(thrown) ? thrown.lastError : thrown;
  if (!(error instanceof Error))
    return { class: typeof error, message: typeof error === "string" ? error : JSON.stringify(error) };
  const body = error.data?.error ?? error.data;
  return {
    class: error.name,
    message: error.message,
    status: error.statusCode,
    code: typeof error.code === "string" ? error.code : body?.code,
    param: body?.param,
    requestId: error.responseHeaders?.["x-request-id"],
    retryable: error.isRetryable,
  };
}

const toUsage = (usage) => ({ promptTokens: usage.inputTokens, completionTokens: usage.outputTokens });
const toCall = ({ toolCallId, toolName, input }) => ({
  id: toolCallId,
  name: toolName,
  arguments: typeof input === "string" ? input : JSON.stringify(input),
});

async function create(request) {
  const { text, rawFinishReason, finishReason, toolCalls, usage, providerMetadata } = await generateText(request);
  return {
    text,
    finishReason: rawFinishReason ?? finishReason,
    toolCalls: toolCalls.map(toCall),
    usage: toUsage(usage),
    unknownMembers: providerMetadata?.judged,
  };
}

async function stream(request, task, answer) {
  const controller = new AbortController();
  const result = streamText({ ...request, abortSignal: controller.signal, onError: () => undefined });
  for await (const part of result.fullStream) {
    if (part.type === "text-delta") answer.text = (answer.text ?? "") + part.text;
    if (part.type === "tool-call") (answer.toolCalls ??= []).push(toCall(part));
    if (part.type === "error") answer.error = describe(part.error);
    if (part.type === "abort") answer.error = { class: "abort", message: part.reason };
    if (part.type === "finish") {
      answer.finishReason = part.rawFinishReason ?? part.finishReason;
      answer.usage = toUsage(part.totalUsage);
    }
    if (part.type === "text-delta" && task.pauseAfterFirstChunkMs) await sleep(task.pauseAfterFirstChunkMs);
    if (part.type === "text-delta" && task.abortAfterFirstChunk) {
      controller.abort();
      return (answer.aborted = true);
    }
  }
}

await serve(async (task) => {
  const { baseUrl, apiKey, maxRetries, timeoutMs, call, model, messages, tools, n } = task;
  if (n) return { unsupported: "generateText and streamText have one choice" };
  const provider = createOpenAICompatible({
    name: "judged",
    baseURL: baseUrl,
    apiKey,
    includeUsage: task.includeUsage === true,
    // The documented way to members that the provider does not know.
    metadataExtractor: {
      extractMetadata: async ({ parsedBody: { x_text, x_number } }) => ({ judged: { x_text, x_number } }),
      createStreamExtractor: () => ({ processChunk: () => undefined, buildMetadata: () => undefined }),
    },
  });
  const system = messages.find(({ role }) => role === "system")?.content;
  const rest = messages.filter(({ role }) => role !== "system");
  const named = tools?.map(({ function: { name, description, parameters } }) => [
    name,
    tool({ description, inputSchema: jsonSchema(parameters) }),
  ]);
  const request = {
    model: provider(model),
    ...(system !== undefined && { system }),
    messages: rest,
    maxRetries,
    timeout: { totalMs: timeoutMs, ...(call === "stream" && { chunkMs: timeoutMs }) },
    ...(named && { tools: Object.fromEntries(named) }),
  };
  return repeat(task, async () => {
    const answer = {};
    try {
      if (call === "create") return await create(request);
      await stream(request, task, answer);
    } catch (error) {
      answer.error = describe(error);
    }
    return answer;
  });
});
