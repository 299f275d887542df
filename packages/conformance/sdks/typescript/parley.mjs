import { pathToFileURL } from "node:url";
import { collectChunks, repeat, seenOf, serve } from "./adapter.mjs";

// The path of another build of the client may be given, for example of its sources.
const [, , path] = process.argv;
const { createParley } = await import(path === undefined ? "@parley/client" : pathToFileURL(path).href);

const describe = (error) => ({
  class: error.name,
  message: error.message,
  status: error.status,
  code: error.code,
  param: error.param,
  requestId: error.requestId,
  retryable: error.retry?.isAutomatic,
});

await serve(async (task) => {
  const { baseUrl, apiKey, maxRetries, timeoutMs, call, model, messages, tools, n } = task;
  const parley = createParley({ baseURL: baseUrl, apiKey, maxRetries, timeoutMs, idleTimeoutMs: timeoutMs });
  const usage = task.includeUsage && { stream_options: { include_usage: true } };
  const request = { model, messages, ...(tools && { tools }), ...(n && { n }), ...usage };
  return repeat(task, async () => {
    const answer = {};
    try {
      if (call === "create") return seenOf(await parley.create(request));
      await collectChunks(parley.stream(request), task, answer);
    } catch (error) {
      answer.error = describe(error);
    }
    return answer;
  });
});
