import { isAxiosError } from "axios";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { ChatApi, Configuration, ModelsApi } from "./parley";
import type { ChatCompletionChunk, ErrorResponse, StreamEvent } from "./parley";

// Usage: main models | main answer PROMPT | main error | main stream PROMPT

const [word, prompt = ""] = process.argv.slice(2);
const model = "vendor/model-1";

const configuration = new Configuration({
  basePath: process.env["PARLEY_URL"] ?? "http://127.0.0.1:8080",
  accessToken: process.env["PARLEY_KEY"] ?? "",
});
const chat = new ChatApi(configuration);

async function printModels(): Promise<void> {
  const { data } = await new ModelsApi(configuration).listModels();
  for (const { id } of data.data) console.log(id);
}

async function answer(): Promise<void> {
  const city = { type: "object", properties: { city: { type: "string" } } };
  const { data } = await chat.createChatCompletion({
    model,
    messages: [{ role: "user", content: prompt }],
    tools: [{ type: "function", function: { name: "get_weather", parameters: city } }],
    response_format: { type: "json_schema", json_schema: { name: "city", schema: city } },
  });
  for (const { message, finish_reason } of data.choices) {
    console.log(finish_reason, message.content);
    for (const call of message.tool_calls ?? []) console.log(call.function.name, call.function.arguments);
  }
}

async function refusal(): Promise<void> {
  try {
    await chat.createChatCompletion({ model: "vendor/none", messages: [{ role: "user", content: "Hello" }] });
  } catch (failure) {
    if (!isAxiosError<ErrorResponse>(failure) || !failure.response) throw failure;
    const { status, data } = failure.response;
    console.log(status, data.error.type, data.error.code);
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

async function stream(): Promise<void> {
  const { data } = await chat.createChatCompletion(
    { model, messages: [{ role: "user", content: prompt }], stream: true },
    undefined,
    undefined,
    { adapter: "fetch", responseType: "stream" },
  );
  // The client's type says that the answer comes whole. With these two options it comes as a stream of bytes.
  for await (const chunk of readChunks(data as unknown as NonNullable<Response["body"]>))
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
