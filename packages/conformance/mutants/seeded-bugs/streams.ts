import { setTimeout as wait } from "node:timers/promises";
import { valueAt, listAt, textAt } from "../../src/judge/read.ts";
import type { EngineEvent } from "../reference/engine.ts";
import type { Outgoing } from "../reference/answers.ts";
import type { Mutant } from "../reference/mutant.ts";
import {
  asksFor,
  chunked,
  deltaOf,
  flagged,
  generated,
  isFinish,
  isUsage,
  replied,
  streamed,
  withHeaders,
  withPieces,
  lacking,
} from "./mutate.ts";
import type { SeededBugs } from "./mutate.ts";

type Json = Record<string, unknown>;
const isRole = (choice: Json): boolean => "role" in deltaOf(choice);
const first = (data: Json | string): Json =>
  typeof data === "string" ? {} : (Object(listAt(data, "/choices")[0]) as Json); // a choice, or nothing
const isDone = (data: Json | string): boolean => data === "[DONE]";

/** Data that was held back is sent before the next real event. */
const moved = (
  isIt: (data: Json | string) => boolean,
  before: (data: Json | string) => boolean,
  isBehind = false,
): Mutant => ({
  stream: async function* (events) {
    const all: Outgoing[] = [];
    for await (const event of events) all.push(event);
    const dataOf = (event: Outgoing): Json | string => ("data" in event ? event.data : "");
    const held = all.filter((event) => isIt(dataOf(event)));
    for (const event of all) {
      if (isIt(dataOf(event))) continue;
      if (before(dataOf(event)) && !isBehind) yield* held.splice(0);
      yield event;
      if (before(dataOf(event)) && isBehind) yield* held.splice(0);
    }
  },
});
const toolPieces = (edit: (call: Json, place: number) => Json): Mutant =>
  withPieces((choice, place) => {
    const calls = listAt(choice, "/delta/tool_calls");
    return calls.length === 0
      ? choice
      : { ...choice, delta: { tool_calls: calls.map((call) => edit(Object(call) as Json, place)) } }; // calls are objects
  });
const error = (edit: (data: Json) => readonly (Json | string)[]): Mutant => ({
  streamError: (data) =>
    edit(data).map((one) => (typeof one === "string" && one.startsWith("event:") ? { raw: one } : { data: one })),
});
const isText = (data: Json | string): boolean => (textAt(first(data), "/delta/content") ?? "") !== "";
const isPlain = (body: Readonly<Record<string, unknown>>): boolean =>
  !JSON.stringify(body["messages"] ?? "").includes("script:");

export const streams: SeededBugs = {
  "stream-as-json": {
    body: (body) =>
      body["stream"] === true && isPlain(body) ? { ...body, stream: false, stream_options: null } : body,
  },
  "stream-cacheable": withHeaders((headers) =>
    "x-accel-buffering" in headers ? { ...headers, "cache-control": "max-age=60" } : headers,
  ),
  "event-name-sent": streamed((data) =>
    [{ raw: `event: message\ndata: ${JSON.stringify(data)}\n\n` }].map((one) => (isDone(data) ? data : one)),
  ),
  "data-on-two-lines": streamed((data) => [
    isDone(data) ? data : { raw: `data: ${JSON.stringify(data, undefined, 1).replaceAll("\n", "\ndata: ")}\n\n` },
  ]),
  "line-ends-raw": streamed((data) => [isDone(data) ? data : { raw: `data: ${JSON.stringify(data)}\n\n` }]),
  "role-missing": streamed((data) => (isRole(first(data)) ? [] : [data])),
  "role-late": moved((data) => isRole(first(data)), isText, true),
  "role-repeated": withPieces((choice) =>
    typeof deltaOf(choice)["content"] === "string"
      ? { ...choice, delta: { role: "assistant", ...deltaOf(choice) } }
      : choice,
  ),
  "two-choices-in-one-event": streamed((data, _place, body) =>
    typeof data !== "string" && isRole(first(data)) && body["n"] === 2
      ? [{ ...data, choices: [0, 1].map((index) => ({ ...first(data), index })) }].slice(
          first(data)["index"] === 0 ? 0 : 1,
        )
      : [data],
  ),
  "delta-of-two-kinds": withPieces((choice) =>
    isText({ choices: [choice] })
      ? { ...choice, delta: { ...deltaOf(choice), reasoning: "", reasoning_content: "" } }
      : choice,
  ),
  "finish-with-text": withPieces((choice) =>
    typeof choice["finish_reason"] === "string" ? { ...choice, delta: { content: "" } } : choice,
  ),
  "finish-missing": streamed((data) => (isFinish(data) ? [] : [data])),
  "finish-twice": streamed((data) => (isFinish(data) ? [data, data] : [data])),
  "finish-reason-absent": withPieces((choice) =>
    choice["finish_reason"] === null
      ? Object.fromEntries(Object.entries(choice).filter(([name]) => name !== "finish_reason"))
      : choice,
  ),
  "text-after-finish": streamed((data) =>
    isFinish(data) && typeof data !== "string"
      ? [data, { ...data, choices: [{ ...first(data), delta: { content: "!" }, finish_reason: null }] }]
      : [data],
  ),
  "usage-not-sent": streamed((data) => (isUsage(data) ? [] : [data])),
  "usage-unasked": {
    stream: async function* (events, body) {
      let last: Json = {};
      for await (const event of events) {
        if ("data" in event && typeof event.data !== "string") last = event.data;
        if ("data" in event && isDone(event.data) && body["stream_options"] === undefined)
          yield { data: { ...last, choices: [], usage: noUsage } };
        yield event;
      }
    },
  },
  "usage-null-missing": chunked((chunk) =>
    chunk["usage"] === null ? Object.fromEntries(Object.entries(chunk).filter(([name]) => name !== "usage")) : chunk,
  ),
  "usage-without-choices": chunked((chunk) => (isUsage(chunk) ? lacking(chunk, "choices") : chunk)),
  "usage-null-unasked": chunked((chunk) => ({ usage: null, ...chunk })),
  "done-missing": streamed((data) => (isDone(data) ? [] : [data])),
  "done-twice": streamed((data) => (isDone(data) ? [data, data] : [data])),
  "done-unbracketed": streamed((data) => (isDone(data) ? ["DONE"] : [data])),
  "event-after-done": {
    stream: async function* (events) {
      let last: Json | string = {};
      for await (const event of events) {
        if ("data" in event && !isDone(event.data)) last = event.data;
        yield event;
      }
      yield { data: last };
    },
  },
  "done-before-finish": moved((data) => isDone(data), isFinish),
  "usage-before-finish": moved((data) => isUsage(data), isFinish),
  "id-changes": chunked((chunk, place) => ({ ...chunk, id: `${String(chunk["id"])}${place > 1 ? "x" : ""}` })),
  "created-changes": chunked((chunk, place) => ({ ...chunk, created: Number(chunk["created"]) + (place > 1 ? 1 : 0) })),
  "model-changes": chunked((chunk, place) => ({
    ...chunk,
    model: `${String(chunk["model"])}${place > 1 ? "-2" : ""}`,
  })),
  "fingerprint-late": chunked((chunk, place) => ({
    ...chunk,
    system_fingerprint: place > 0 ? chunk["system_fingerprint"] : "fp_none",
  })),
  "chunk-object-differs": chunked((chunk) => ({ ...chunk, object: "chat.completion" })),
  "chunk-member-leaks": chunked((chunk) => ({ ...chunk, prompt_token_ids: null })),
  "call-id-repeated": repeatedId(),
  "call-name-split": splitName(),
  "call-index-gap": toolPieces((call) => ({ ...call, index: Number(call["index"]) + 1 })),
  "arguments-before-call": moved(
    (data) => textAt(first(data), "/delta/tool_calls/0/id") !== undefined,
    (data) => listAt(first(data), "/delta/tool_calls").length > 0,
    true,
  ),
  "error-as-chunk": error((data) => [{ ...data, choices: [] }]),
  "error-without-request-id": error((data) => [lacking(data, "request_id")]),
  "done-after-error": error((data) => [data, "[DONE]"]),
  "chunk-after-error": error((data) => [
    data,
    { id: "chatcmpl-x", object: "chat.completion.chunk", created: 1, model: "m", system_fingerprint: "f", choices: [] },
  ]),
  "stream-request-id-differs": error((data) => [{ ...data, request_id: "req_other" }]),
  "abort-becomes-stop": generated((event) => [
    event.kind === "finish" && event.reason === "abort" ? { ...event, reason: "stop" } : event,
  ]),
  "broken-upstream-clean-end": { ...flagged("finish-unchecked") },
  "early-failure-in-stream": flagged("early-failure-in-stream"),
  "bad-request-in-stream": {
    ...replied((reply, head) =>
      reply.status === 400 &&
      head.headers["content-type"] !== undefined &&
      /"(?:temperature|top_p)"/.test(JSON.stringify(reply.body))
        ? {
            status: 200,
            headers: { ...reply.headers, "content-type": "text/event-stream" },
            body: `data: ${JSON.stringify(reply.body)}\n\n`,
          }
        : {},
    ),
  },
  "head-held-for-ever": flagged("head-held"),
  "keep-alive-missing": flagged("no-keep-alive"),
  "keep-alive-as-event": flagged("keep-alive-as-event"),
  "deadline-missing": { settings: { requestMs: 60_000 } },
  "events-collected": flagged("events-collected"),
  "stream-arrives-at-its-end": {
    ...flagged("events-collected"),
    events: async function* (events) {
      for await (const event of events) {
        if (event.kind === "text") await wait(120);
        yield event;
      }
    },
  },
  "hang-up-unnoticed": flagged("hang-up-unnoticed"),
  "text-held-back": heldBack(),
  "slow-reader-unbounded": flagged("slow-reader-kept"),
  "stream-text-differs": withPieces((choice) =>
    isText({ choices: [choice] })
      ? { ...choice, delta: { content: ` ${String(deltaOf(choice)["content"]).trim()}  ` } }
      : choice,
  ),
  "reasoning-streamed-as-text": withPieces((choice) => {
    const { reasoning } = deltaOf(choice);
    return typeof reasoning === "string" ? { ...choice, delta: { content: reasoning } } : choice;
  }),
  "stream-usage-differs": chunked((chunk) =>
    isUsage(chunk)
      ? {
          ...chunk,
          usage: {
            ...Object(chunk["usage"]),
            completion_tokens: Number(valueAt(chunk, "/usage/completion_tokens")) + 1,
            total_tokens: Number(valueAt(chunk, "/usage/total_tokens")) + 1,
          },
        }
      : chunk,
  ),
  "character-split": generated((event) =>
    event.kind === "text" && Buffer.byteLength(event.text) > event.text.length + 1
      ? [...Buffer.from(event.text)].map((byte) => ({ ...event, text: Buffer.from([byte]).toString(), count: 0 }))
      : [event],
  ),
  "older-reasoning-missing-in-stream": withPieces((choice) =>
    "reasoning" in deltaOf(choice) ? { ...choice, delta: { reasoning: deltaOf(choice)["reasoning"] } } : choice,
  ),
  "choice-missing-in-stream": streamed((data) => (first(data)["index"] === 1 ? [] : [data])),
  "broken-stream-ends-cleanly": flagged("clean-end-of-broken-stream"),
  "engine-code-in-stream": error((data) => [
    { ...data, error: { ...Object(data["error"]), code: "rate_limit_exceeded" } },
  ]),
  "plain-hang-up-unnoticed": flagged("plain-hang-up-unnoticed"),
};

const noUsage = {
  prompt_tokens: 1,
  completion_tokens: 0,
  total_tokens: 1,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
  cost_usd: "0.0000103",
};

/** The rest of a name comes with the second piece of its call. */
function splitName(): Mutant {
  let rest: string | undefined;
  return toolPieces((call) => {
    const name = textAt(call, "/function/name");
    const pieces = textAt(call, "/function/arguments") ?? "";
    const late = rest;
    rest = name?.slice(2);
    if (name !== undefined) return { ...call, function: { name: name.slice(0, 2), arguments: pieces } };
    return late === undefined ? call : { ...call, function: { name: late, arguments: pieces } };
  });
}

function repeatedId(): Mutant {
  let id: unknown;
  return toolPieces((call) => {
    id = call["id"] ?? id;
    return { ...call, id };
  });
}

/** The last text is kept until the next one comes. */
function heldBack(): Mutant {
  return {
    events: async function* (events, body) {
      let held: EngineEvent | undefined;
      for await (const event of events) {
        const isHeld = event.kind === "text" && asksFor("paced", body) && body["stop"] !== undefined;
        if (held) yield held;
        held = isHeld ? event : undefined;
        if (!isHeld) yield event;
      }
      if (held) yield held;
    },
  };
}
