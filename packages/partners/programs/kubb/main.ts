import { EventSourceParserStream } from "eventsource-parser/stream";
import { createChatCompletion, listModels } from "./parley";
import type { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest, StreamEvent } from "./parley";
import { open, RefusalError } from "./send";

// Usage: main models | main answer PROMPT | main error | main stream PROMPT

const [word, prompt = ""] = process.argv.slice(2);
const model = "vendor/model-1";

async function printModels(): Promise<void> {
  const { data } = await listModels();
  for (const { id } of data) console.log(id);
}

async function answer(): Promise<void> {
  const city = { type: "object", properties: { city: { type: "string" } } };
  const completion = await createChatCompletion({
    model,
    messages: [{ role: "user", content: prompt }],
    tools: [{ type: "function", function: { name: "get_weather", parameters: city } }],
    response_format: { type: "json_schema", json_schema: { name: "city", schema: city } },
  });
  const { choices } = completion as ChatCompletion; // the type names the events of a stream, too, which was not asked for
  for (const { message, finish_reason } of choices) {
    console.log(finish_reason, message.content);
    for (const call of message.tool_calls ?? []) console.log(call.function.name, call.function.arguments);
  }
}

async function refusal(): Promise<void> {
  try {
    await createChatCompletion({ model: "vendor/none", messages: [{ role: "user", content: "Hello" }] });
  } catch (failure) {
    if (!(failure instanceof RefusalError)) throw failure;
    console.log(failure.status, failure.body.error.type, failure.body.error.code);
  }
}

/** Ends normally only after `[DONE]`. */
async function* readChunks(body: NonNullable<Response["body"]>): AsyncGenerator<ChatCompletionChunk> {
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) {
    if (data === "[DONE]") return;
    const event = JSON.parse(data) as StreamEvent;
    if ("error" in event) throw new Error(`stream error: ${event.error.code}`);
    yield event;
  }
  throw new Error("truncated: the stream ended without [DONE]");
}

/** Sends the request itself: the generated function reads the whole answer before it returns. */
async function stream(): Promise<void> {
  const data: ChatCompletionRequest = { model, messages: [{ role: "user", content: prompt }], stream: true };
  const { body } = await open({ url: "/v1/chat/completions", method: "POST", data });
  if (!body) throw new Error("the answer has no body");
  for await (const chunk of readChunks(body))
    for (const { delta, finish_reason } of chunk.choices) {
      if (delta.content) console.log(delta.content);
      if (finish_reason) console.log(finish_reason);
    }
}

const actions: Readonly<Record<string, () => Promise<void>>> = { models: printModels, answer, error: refusal, stream };

try {
  await actions[word ?? ""]?.();
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
