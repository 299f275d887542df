import { EventSourceParserStream } from "eventsource-parser/stream";
import { Api } from "./parley";
import type { ChatCompletionChunk, ErrorResponse, HttpResponse, StreamEvent } from "./parley";

// Usage: main models | main answer PROMPT | main error | main stream PROMPT

const [word, prompt = ""] = process.argv.slice(2);
const model = "vendor/model-1";

const { v1 } = new Api({
  baseUrl: process.env["PARLEY_URL"] ?? "http://127.0.0.1:8080",
  baseApiParams: { headers: { authorization: `Bearer ${process.env["PARLEY_KEY"]}` } },
});

async function printModels(): Promise<void> {
  const { data } = await v1.listModels();
  for (const { id } of data.data) console.log(id);
}

async function answer(): Promise<void> {
  const { data } = await v1.createChatCompletion({
    model,
    messages: [{ role: "user", content: prompt }],
    tools: [
      {
        type: "function",
        function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
      },
    ],
    response_format: {
      type: "json_schema",
      json_schema: { name: "city", schema: { type: "object", properties: { city: { type: "string" } } } },
    },
  });
  for (const { message, finish_reason } of data.choices) {
    console.log(finish_reason, message.content);
    for (const call of message.tool_calls ?? []) console.log(call.function.name, call.function.arguments);
  }
}

/** The value that the client throws when the answer is an error. */
function asRefusal(failure: unknown): HttpResponse<unknown, ErrorResponse> {
  if (!(failure instanceof Response)) throw failure;
  return failure as HttpResponse<unknown, ErrorResponse>;
}

async function refusal(): Promise<void> {
  try {
    await v1.createChatCompletion({ model: "vendor/none", messages: [{ role: "user", content: "Hello" }] });
  } catch (failure) {
    const { status, error } = asRefusal(failure);
    console.log(status, error.error.type, error.error.code);
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
  // Without a format, the client leaves the body unread.
  const { body } = await v1.createChatCompletion(
    { model, messages: [{ role: "user", content: prompt }], stream: true },
    { format: undefined },
  );
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
