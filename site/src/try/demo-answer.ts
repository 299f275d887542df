import { isObject, plainText, requestSchema } from "./schema.ts";
import type { Example, Json, JsonObject, Schemas } from "./schema.ts";
import { validateRequest } from "./validate.ts";

/** The content of `/docs/demo.json`: a recorded service. */
export interface DemoData {
  readonly schemas: Schemas;
  readonly models: { readonly data: readonly JsonObject[] };
  readonly replies: readonly DemoReply[];
  /** The body of each error, by its code. */
  readonly errors: Readonly<Record<string, { readonly status: number; readonly body: JsonObject }>>;
  /** Requests that only the demo answers in a special way. */
  readonly examples: readonly Example[];
  /** The text for every other question. */
  readonly text: string;
  /** The addresses that are kept, so the pages work without a network. */
  readonly files: readonly string[];
}

/** The answer to a last message. */
export interface DemoReply {
  readonly last: JsonObject;
  /** A whole completion. */
  readonly answer?: JsonObject;
  /** The data of each event of a stream. */
  readonly events?: readonly string[];
  /** The code of an error that comes instead: once, then not for as long as its wait lasts. */
  readonly error?: string;
}

/** A request to the demo. */
export interface DemoRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body: string;
}

export const demoKey = "demo";
const pauseMs = 45;
const waitMs = 3000;
/** The time until which a request is refused for the limit, and whether it was refused before. */
let limit = { endsAt: 0, isOver: false };

/** Answers a request as the service would. */
export function answerDemo(data: DemoData, { method, path, key, body }: DemoRequest): Response {
  if (key !== demoKey) return refuse(data, "invalid_api_key", `The demo has one key: ${demoKey}.`);
  if (method === "GET") return answerModels(data, path);
  if (path !== "/v1/chat/completions") return refuse(data, "unknown_url");
  let request: Json;
  try {
    // JSON.parse returns JSON.
    request = JSON.parse(body) as Json;
  } catch {
    return refuse(data, "invalid_json");
  }
  const [fault] = validateRequest(data.schemas, { $ref: requestSchema }, request);
  if (fault) return refuse(data, fault.code, `\`${fault.param}\`: ${fault.message}`, fault.param);
  if (!isObject(request)) return refuse(data, "invalid_type");
  if (!findModel(data, plainText(request["model"]))) return refuse(data, "model_not_found");
  return answerChat(data, request);
}

const findModel = ({ models }: DemoData, name: string): JsonObject | undefined =>
  models.data.find(({ id, aliases }) => id === name || (Array.isArray(aliases) && aliases.includes(name)));

function answerModels(data: DemoData, path: string): Response {
  if (path === "/v1/models") return json(200, data.models);
  const model = findModel(data, decodeURIComponent(path.replace("/v1/models/", "")));
  return model ? json(200, model) : refuse(data, path.startsWith("/v1/models/") ? "model_not_found" : "unknown_url");
}

function answerChat(data: DemoData, request: JsonObject): Response {
  const messages = Array.isArray(request["messages"]) ? request["messages"] : [];
  const last = keyOf(messages.at(-1));
  const reply = data.replies.find((one) => keyOf(one.last) === last);
  if (reply?.error !== undefined) {
    if (!limit.isOver) limit = { endsAt: Date.now() + waitMs, isOver: true };
    if (Date.now() < limit.endsAt) return refuse(data, reply.error);
    limit = { endsAt: 0, isOver: false };
  }
  const isJson = isObject(request["response_format"]) && request["response_format"]["type"] !== "text";
  const answer = {
    ...(reply?.answer ?? completionOf(isJson ? '{"demo": true}' : data.text)),
    model: request["model"] ?? "",
  };
  if (request["stream"] !== true) {
    const isFailing = reply?.events && !reply.answer;
    return isFailing ? refuse(data, "upstream_error") : json(200, answer);
  }
  const options = request["stream_options"];
  const wantsUsage = isObject(options) && options["include_usage"] === true;
  return stream(withUsage(reply?.events ?? eventsOf(answer), wantsUsage, answer));
}

/** A stream has the event with the usage only if the request asks for it. A stream that fails never has it. */
function withUsage(events: readonly string[], wantsUsage: boolean, answer: JsonObject): readonly string[] {
  const isUsage = (event: string): boolean => event.includes('"choices":[],');
  if (!wantsUsage) return events.filter((event) => !isUsage(event));
  if (events.some((event) => isUsage(event)) || events.at(-1) !== "[DONE]") return events;
  return [...events.slice(0, -1), usageEvent(answer), "[DONE]"];
}

/** Messages with the same key get the same reply. The id of a call is not a part of it. */
const keyOf = (message: Json | undefined): string =>
  isObject(message) ? JSON.stringify([message["role"], message["content"]]) : "";

/** Returns a completion with a text. A token has about four characters. */
const completionOf = (content: string): JsonObject => ({
  id: "chatcmpl-Demo0000000000001",
  object: "chat.completion",
  created: 1795230934,
  choices: [{ index: 0, message: { role: "assistant", content }, logprobs: null, finish_reason: "stop" }],
  usage: usageOf(12, Math.ceil(content.length / 4)),
});

const usageOf = (prompt: number, completion: number): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  // The prices of the first model, in units of 0.0000001 dollars.
  cost_usd: `0.${String(prompt * 3 + completion * 6).padStart(7, "0")}`,
});

const usageEvent = ({ id = "", created = 0, model = "", usage = null }: JsonObject): string =>
  JSON.stringify({ id, object: "chat.completion.chunk", created, model, choices: [], usage });

/** Returns the data of the events that stream a completion, a word at a time. */
function eventsOf(answer: JsonObject): string[] {
  const { choices, id = "", created = 0, model = "" } = answer;
  const chunk = (index: number, delta: JsonObject, finish: Json = null): string =>
    JSON.stringify({
      id,
      object: "chat.completion.chunk",
      created,
      model,
      choices: [{ index, delta, logprobs: null, finish_reason: finish }],
    });
  const events = (Array.isArray(choices) ? choices : []).flatMap((choice, index) => {
    if (!isObject(choice) || !isObject(choice["message"])) return [];
    const { content, reasoning, tool_calls: calls } = choice["message"];
    const words = (value: Json | undefined): string[] =>
      typeof value === "string" ? (value.match(/\s*\S+\s*$|\s*\S+/g) ?? []) : [];
    return [
      chunk(index, { role: "assistant", content: "" }),
      ...words(reasoning).map((word) => chunk(index, { reasoning: word, reasoning_content: word })),
      ...words(content).map((word) => chunk(index, { content: word })),
      ...(Array.isArray(calls) ? calls : []).map((call, at) =>
        chunk(index, { tool_calls: [{ index: at, ...(isObject(call) && call) }] }),
      ),
      chunk(index, {}, choice["finish_reason"] ?? "stop"),
    ];
  });
  return [...events, usageEvent(answer), "[DONE]"];
}

const json = (status: number, body: object, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "x-request-id": "req_demo000000000000", ...headers },
  });

function refuse({ errors }: DemoData, code: string, message?: string, param?: string): Response {
  const { status, body } = errors[code] ?? { status: 500, body: {} };
  const error = isObject(body["error"]) ? body["error"] : {};
  const changes = { ...(message !== undefined && { message }), ...(param !== undefined && { param }) };
  const leftMs = limit.endsAt - Date.now();
  const isLimit = status === 429;
  return json(
    status,
    { ...body, error: { ...error, ...changes, ...(isLimit && { message: "The limit of the demo is reached." }) } },
    isLimit ? { "retry-after": String(Math.ceil(leftMs / 1000)), "retry-after-ms": String(leftMs) } : {},
  );
}

/** Sends an event at a time, until the reader stops. */
function stream(events: readonly string[]): Response {
  const encoder = new TextEncoder();
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const event = events[at++];
      if (event === undefined) return controller.close();
      if (at > 1) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      controller.enqueue(encoder.encode(`data: ${event}\n\n`));
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "x-request-id": "req_demo000000000000" },
  });
}
