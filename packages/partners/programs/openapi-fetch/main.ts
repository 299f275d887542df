import { EventSourceParserStream } from "eventsource-parser/stream";
import createClient from "openapi-fetch";
import type { components, paths } from "./parley.ts";

// Usage: main models | main answer PROMPT | main error | main stream PROMPT

type StreamEvent = components["schemas"]["StreamEvent"];
type Chunk = components["schemas"]["ChatCompletionChunk"];

const [word, prompt = ""] = process.argv.slice(2);
const model = "vendor/model-1";

const client = createClient<paths, "application/json">({
  baseUrl: process.env["PARLEY_URL"] ?? "http://127.0.0.1:8080",
  headers: { authorization: `Bearer ${process.env["PARLEY_KEY"]}` },
});

async function listModels(): Promise<void> {
  const { data, error } = await client.GET("/v1/models");
  if (!data) throw new Error(`refused: ${error.error.code}`);
  for (const { id } of data.data) console.log(id);
}

async function answer(): Promise<void> {
  const { data, error } = await client.POST("/v1/chat/completions", {
    body: {
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
    },
  });
  if (!data) throw new Error(`refused: ${error.error.code}`);
  for (const { message, finish_reason } of data.choices) {
    console.log(finish_reason, message.content);
    for (const call of message.tool_calls ?? []) console.log(call.function.name, call.function.arguments);
  }
}

async function refusal(): Promise<void> {
  const { error, response } = await client.POST("/v1/chat/completions", {
    body: { model: "vendor/none", messages: [{ role: "user", content: "Hello" }] },
  });
  if (error) console.log(response.status, error.error.type, error.error.code);
}

/** Ends normally only after `[DONE]`. */
async function* readChunks(body: NonNullable<Response["body"]>): AsyncGenerator<Chunk> {
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
  const { error, response } = await client.POST("/v1/chat/completions", {
    body: { model, messages: [{ role: "user", content: prompt }], stream: true },
    parseAs: "stream",
  });
  if (error) throw new Error(`refused: ${error.error.code}`);
  if (!response.body) throw new Error("the answer has no body");
  for await (const chunk of readChunks(response.body))
    for (const { delta, finish_reason } of chunk.choices) {
      if (delta.content) console.log(delta.content);
      if (finish_reason) console.log(finish_reason);
    }
}

const actions: Readonly<Record<string, () => Promise<void>>> = { models: listModels, answer, error: refusal, stream };

try {
  await actions[word ?? ""]?.();
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
