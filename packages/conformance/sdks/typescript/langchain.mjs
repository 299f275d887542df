import { ChatOpenAI } from "@langchain/openai";
import { repeat, serve, sleep } from "./adapter.mjs";

const describe = (error) => ({
  class: error.constructor.name,
  message: error.message,
  // Some errors have the error of the openai package as their cause.
  status: error.status ?? error.cause?.status,
  code: error.code,
  param: error.param,
  requestId: error.requestID,
});

const toUsage = (usage) => usage && { promptTokens: usage.input_tokens, completionTokens: usage.output_tokens };
const toCall = ({ id, name, args }) => ({ id, name, arguments: JSON.stringify(args) });

async function create(chat, messages) {
  const { text, response_metadata, tool_calls, usage_metadata, additional_kwargs } = await chat.invoke(messages);
  const { x_text, x_number } = additional_kwargs.__raw_response ?? {};
  return {
    text,
    finishReason: response_metadata.finish_reason,
    toolCalls: tool_calls?.map(toCall),
    usage: toUsage(usage_metadata),
    unknownMembers: { x_text, x_number },
  };
}

async function stream(chat, messages, task, answer) {
  let whole;
  for await (const chunk of await chat.stream(messages)) {
    whole = whole === undefined ? chunk : whole.concat(chunk);
    answer.text = (answer.text ?? "") + chunk.text;
    if (chunk.response_metadata.finish_reason) answer.finishReason = chunk.response_metadata.finish_reason;
    if (task.pauseAfterFirstChunkMs) await sleep(task.pauseAfterFirstChunkMs);
    if (task.abortAfterFirstChunk) return (answer.aborted = true);
  }
  answer.toolCalls = whole?.tool_calls?.map(toCall);
  answer.usage = toUsage(whole?.usage_metadata);
}

await serve(async (task) => {
  const { baseUrl, apiKey, maxRetries, timeoutMs, call, model, messages, tools, n } = task;
  if (n) return { unsupported: "invoke and stream give one choice" };
  const plain = new ChatOpenAI({
    model,
    apiKey,
    maxRetries,
    timeout: timeoutMs,
    __includeRawResponse: true,
    streamUsage: task.includeUsage === true,
    configuration: { baseURL: baseUrl },
  });
  const chat = tools ? plain.bindTools(tools) : plain;
  return repeat(task, async () => {
    const answer = {};
    try {
      if (call === "create") return await create(chat, messages);
      await stream(chat, messages, task, answer);
    } catch (error) {
      answer.error = describe(error);
    }
    return answer;
  });
});
