import { isErrorFromAlias } from "@zodios/core";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { z } from "zod";
import { api, createApiClient, schemas } from "./parley";

// Usage: main models | main answer PROMPT | main error | main stream PROMPT

const [word, prompt = ""] = process.argv.slice(2);
const model = "vendor/model-1";

const baseUrl = process.env["PARLEY_URL"] ?? "http://127.0.0.1:8080";
const headers = { authorization: `Bearer ${process.env["PARLEY_KEY"]}` };
const client = createApiClient(baseUrl, { axiosConfig: { headers } });

async function printModels(): Promise<void> {
  const { data } = await client.listModels();
  for (const { id } of data) console.log(id);
}

async function answer(): Promise<void> {
  const city = { type: "object", properties: { city: { type: "string" } } };
  const { choices } = await client.createChatCompletion({
    model,
    messages: [{ role: "user", content: prompt }],
    tools: [{ type: "function", function: { name: "get_weather", parameters: city } }],
    response_format: { type: "json_schema", json_schema: { name: "city", schema: city } },
  });
  for (const { message, finish_reason } of choices) {
    console.log(finish_reason, message.content);
    for (const call of message.tool_calls ?? []) console.log(call.function.name, call.function.arguments);
  }
}

async function refusal(): Promise<void> {
  try {
    await client.createChatCompletion({ model: "vendor/none", messages: [{ role: "user", content: "Hello" }] });
  } catch (failure) {
    if (!isErrorFromAlias(api.api, "createChatCompletion", failure)) throw failure;
    const { status, data } = failure.response;
    console.log(status, data.error.type, data.error.code);
  }
}

type Chunk = z.infer<typeof schemas.ChatCompletionChunk>;

/** Ends normally only after `[DONE]`. */
async function* readChunks(body: NonNullable<Response["body"]>): AsyncGenerator<Chunk> {
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) {
    if (data === "[DONE]") return;
    const event: unknown = JSON.parse(data);
    const failure = schemas.StreamError.safeParse(event);
    if (failure.success) throw new Error(`stream error: ${failure.data.error.code}`);
    yield schemas.ChatCompletionChunk.parse(event);
  }
  throw new Error("truncated: the stream ended without [DONE]");
}

/** Sends the request itself: the generated client reads the whole answer before it returns. */
async function stream(): Promise<void> {
  const request = schemas.ChatCompletionRequest.parse({
    model,
    messages: [{ role: "user", content: prompt }],
    stream: true,
  });
  const response = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  if (!response.ok) throw new Error(`refused: ${schemas.ErrorResponse.parse(await response.json()).error.code}`);
  if (!response.body) throw new Error("the answer has no body");
  for await (const chunk of readChunks(response.body))
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
