import type { Contract } from "../sources.ts";
import type { DemoData, DemoReply } from "./demo-answer.ts";
import { isObject, plainText, requestSchema } from "./schema.ts";
import type { Example, Json, JsonObject, Schema, Schemas, TryData } from "./schema.ts";

/** Makes the data of the pages that send requests from the contract and its examples. */

interface Media {
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: JsonObject }>>;
  readonly "x-transcripts"?: Readonly<Record<string, { readonly summary: string; readonly value: string }>>;
}

interface ChatOperation {
  readonly requestBody: { readonly content: { readonly "application/json": Media } };
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: Readonly<Record<string, Media>> }>
  >;
}

// The contract's own tests check the shape of the operation.
const chatOf = ({ paths }: Contract): ChatOperation =>
  paths["/v1/chat/completions"]?.["post"] as unknown as ChatOperation;

const user = (content: string): JsonObject => ({ role: "user", content });

export function tryData(contract: Contract): TryData {
  const { examples = {} } = chatOf(contract).requestBody.content["application/json"];
  const offered = Object.entries(examples).map(([name, { summary, value }]) => ({ name, summary, request: value }));
  // The streamed request comes first: the page begins with it.
  const first = offered.filter(({ name }) => name === "stream");
  const fault = {
    name: "fault",
    summary: "A member out of range: 400",
    request: { model: "vendor/model-1", messages: [user("Hello")], logprobs: true, top_logprobs: 21 },
  };
  return {
    schemas: schemasOf(contract),
    examples: [...first, ...offered.filter((one) => !first.includes(one)), fault],
    errorCodes: Object.keys(contract["x-error-catalog"]),
    models: modelsOf(contract).data,
  };
}

/** Returns the schemas that a request can contain, without the parts that only people and engines read. */
function schemasOf({ components }: Contract): Schemas {
  const all = components["schemas"] ?? {};
  const found: Record<string, Schema> = {};
  const add = (name: string): void => {
    const schema = all[name];
    if (found[name] !== undefined || schema === undefined) return;
    // The contract's schemas have the keywords of `Schema`. The order of `found` does not matter.
    const slim = slimmed(schema) as Schema;
    found[name] = slim;
    for (const [, inner = ""] of JSON.stringify(slim).matchAll(/"#\/components\/schemas\/(\w+)"/g)) add(inner);
  };
  add(requestSchema);
  return found;
}

const dropped = /^(examples|format|x-(?!ignored$|error-code$).*)$/;

function slimmed(value: Json): Json {
  if (Array.isArray(value)) return value.map((one) => slimmed(one));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([name, inner]) => {
    if (dropped.test(name)) return [];
    return [
      [name, name === "description" && typeof inner === "string" ? firstSentence(inner) : slimmed(inner)] as const,
    ];
  });
  return Object.fromEntries(entries);
}

const firstSentence = (text: string): string =>
  (/^[^]*?[.](?=\s|$)/.exec(text)?.[0] ?? text)
    .replaceAll(/ \([A-Z]{2,4}-\d\d[^)]*\)/g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll("`", "");

const failing = user("Fail in mid-stream.");
const limited = user("Reach the rate limit.");
const request = (last: JsonObject): JsonObject => ({ model: "vendor/model-1", messages: [last], stream: true });

const demoExamples: readonly Example[] = [
  { name: "demo-failure", summary: "A failure in mid-stream", request: request(failing) },
  { name: "demo-limit", summary: "A rate limit: 429", request: request(limited) },
];

const demoText =
  "This is the demo. No model has written this text: a service worker in your browser plays it, a word at a time, as the service streams an answer. " +
  "The requests in the list of examples have answers of their own. They show reasoning, tool calls, JSON, several choices, a rate limit and a failure in mid-stream. " +
  "With a server and a key, the same page shows the answers of the model.";

/** The transcript that streams the answer to an example. */
const transcriptOf: Readonly<Record<string, string>> = { stream: "usage" };

export function demoData(contract: Contract, files: readonly string[]): DemoData {
  const { schemas, examples } = tryData(contract);
  const { responses } = chatOf(contract);
  const success = responses["200"]?.content ?? {};
  const answers = success["application/json"]?.examples ?? {};
  const transcripts = success["text/event-stream"]?.["x-transcripts"] ?? {};
  const eventsOf = (name: string): readonly string[] | undefined =>
    transcripts[name]?.value.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
  const replies = examples.flatMap(({ name, request }): DemoReply[] => {
    const events = eventsOf(transcriptOf[name] ?? name);
    const answer = answers[name]?.value;
    if (!events && !answer) return [];
    return [{ last: lastOf(request), ...(answer && { answer }), ...(events && { events }) }];
  });
  const failure = eventsOf("error");
  return {
    schemas,
    models: modelsOf(contract),
    replies: [
      // The transcript of a plain question is also its whole answer.
      ...replies.map((reply) =>
        reply.answer || !reply.events ? reply : { ...reply, answer: completionOf(reply.events) },
      ),
      { last: failing, ...(failure && { events: failure }) },
      { last: limited, error: "rate_limit_exceeded" },
    ],
    errors: errorsOf(contract),
    examples: demoExamples,
    text: demoText,
    files,
  };
}

function lastOf({ messages }: JsonObject): JsonObject {
  const last = Array.isArray(messages) ? messages.at(-1) : undefined;
  return isObject(last) ? last : {};
}

/** Returns the completion that the events of one choice of text add up to. */
function completionOf(events: readonly string[]): JsonObject {
  // Events but the last are objects: the contract's own tests check the transcripts.
  const chunks = events.filter((event) => event !== "[DONE]").map((event) => JSON.parse(event) as JsonObject);
  const deltas = chunks.flatMap(({ choices }) => (Array.isArray(choices) ? choices : [])).filter(isObject);
  const content = deltas.map(({ delta }) => (isObject(delta) ? plainText(delta["content"] ?? "") : "")).join("");
  const choice = { index: 0, message: { role: "assistant", content }, logprobs: null, finish_reason: "stop" };
  const { id = "", created = 0 } = chunks[0] ?? {};
  return { id, object: "chat.completion", created, choices: [choice], usage: chunks.at(-1)?.["usage"] ?? null };
}

function modelsOf({ paths }: Contract): DemoData["models"] {
  // The contract's own tests check the shape of the operation and of its example.
  const list = paths["/v1/models"]?.["get"] as unknown as ChatOperation;
  return list.responses["200"]?.content?.["application/json"]?.examples?.["models"]
    ?.value as unknown as DemoData["models"];
}

function errorsOf(contract: Contract): DemoData["errors"] {
  const entries = Object.entries(chatOf(contract).responses).flatMap(([status, outer]) => {
    const name = outer.$ref?.split("/").at(-1);
    // The contract's own tests check the shape of an answer.
    const answer = name === undefined ? outer : (contract.components["responses"]?.[name] as unknown as typeof outer);
    const examples = Object.entries(answer.content?.["application/json"]?.examples ?? {});
    return status.startsWith("2")
      ? []
      : examples.map(([code, { value }]) => [code, { status: Number(status), body: value }] as const);
  });
  return Object.fromEntries(entries);
}
