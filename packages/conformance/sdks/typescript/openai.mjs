import OpenAI from "openai";
import { repeat, serve, sleep } from "./adapter.mjs";

const describe = (error) => ({
  class: error.constructor.name,
  message: error.message,
  status: error.status,
  code: error.code,
  param: error.param,
  requestId: error.requestID,
});

async function create(openai, request) {
  const { choices, usage, ...rest } = await openai.chat.completions.create(request);
  const { message, finish_reason } = choices?.[0] ?? {};
  return {
    text: message?.content,
    finishReason: finish_reason,
    toolCalls: message?.tool_calls?.map(({ id, function: called }) => ({ id, ...called })),
    usage: { promptTokens: usage?.prompt_tokens, completionTokens: usage?.completion_tokens },
    unknownMembers: { x_text: rest.x_text, x_number: rest.x_number },
  };
}

/** Collects what the caller of a stream sees: its chunks, one after the other. */
async function stream(openai, request, task, answer) {
  const chunks = await openai.chat.completions.create({ ...request, stream: true });
  const texts = [];
  const calls = [];
  for await (const { choices, usage } of chunks) {
    if (usage) answer.usage = { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens };
    for (const { index, delta, finish_reason } of choices) {
      texts[index] = (texts[index] ?? "") + (delta.content ?? "");
      for (const call of delta.tool_calls ?? []) {
        calls[call.index] ??= { id: call.id, name: call.function.name, arguments: "" };
        calls[call.index].arguments += call.function.arguments;
      }
      if (index === 0 && finish_reason) answer.finishReason = finish_reason;
    }
    Object.assign(answer, { text: texts[0], texts, toolCalls: calls });
    if (task.pauseAfterFirstChunkMs) await sleep(task.pauseAfterFirstChunkMs);
    if (task.abortAfterFirstChunk) return (answer.aborted = true);
  }
}

await serve(async (task) => {
  const { baseUrl, apiKey, maxRetries, timeoutMs, call, model, messages, tools, n } = task;
  const openai = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries, timeout: timeoutMs });
  const usage = task.includeUsage && { stream_options: { include_usage: true } };
  const request = { model, messages, ...(tools && { tools }), ...(n && { n }), ...usage };
  return repeat(task, async () => {
    const answer = {};
    try {
      if (call === "create") return await create(openai, request);
      await stream(openai, request, task, answer);
    } catch (error) {
      answer.error = describe(error);
    }
    return answer;
  });
});
