import OpenAI from "openai";
import { collectChunks, repeat, seenOf, serve } from "./adapter.mjs";

const describe = (error) => ({
  class: error.constructor.name,
  message: error.message,
  status: error.status,
  code: error.code,
  param: error.param,
  requestId: error.requestID,
});

await serve(async (task) => {
  const { baseUrl, apiKey, maxRetries, timeoutMs, call, model, messages, tools, n } = task;
  const openai = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries, timeout: timeoutMs });
  const usage = task.includeUsage && { stream_options: { include_usage: true } };
  const request = { model, messages, ...(tools && { tools }), ...(n && { n }), ...usage };
  return repeat(task, async () => {
    const answer = {};
    try {
      if (call === "create") return seenOf(await openai.chat.completions.create(request));
      await collectChunks(await openai.chat.completions.create({ ...request, stream: true }), task, answer);
    } catch (error) {
      answer.error = describe(error);
    }
    return answer;
  });
});
