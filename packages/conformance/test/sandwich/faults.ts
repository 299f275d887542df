import type { Side } from "../../src/sandwich/case.ts";
import type { Class } from "../../src/sandwich/compare.ts";
import type { Fault } from "./toy-gateway.ts";

/** Gateways with one fault each, the finding that shows it, and the case that brings it out. */

type Edit = (text: string) => string;

/** Parses a body, changes it, and writes it again, as services do. */
export const editJson =
  (edit: (body: Record<string, unknown>) => void): Edit =>
  (text) => {
    const body = JSON.parse(text) as Record<string, unknown>; // every body of the suite is an object
    edit(body);
    return JSON.stringify(body);
  };
const without = (name: string): Edit => editJson((body) => delete body[name]);
export const replace =
  (pattern: RegExp, by: string): Edit =>
  (text) =>
    text.replaceAll(pattern, by);
export const answer = (edit: Edit): Fault => ({ answer: (reply) => ({ ...reply, body: edit(reply.body) }) });
const status = (edit: (status: number) => number): Fault => ({
  answer: (reply) => ({ ...reply, status: edit(reply.status) }),
});

/** Swaps the events that contain these texts. */
const swap = (text: string, one: string, other: string): string => {
  const events = text.split("\n\n");
  const [left, right] = [one, other].map((wanted) => events.findIndex((event) => event.includes(wanted)));
  return events
    .map((event, index) => (index === left ? events[right ?? 0] : index === right ? events[left ?? 0] : event))
    .join("\n\n");
};

type Row = readonly [title: string, found: `${Class} ${Side} ${string}`, name: string, fault: Fault];

export const requestFaults: readonly Row[] = [
  ["drops a member", "lost request /seed", "sampling-members", { request: without("seed") }],
  ["drops zeros", "lost request /temperature", "zero-values", { request: replace(/"temperature":0,/g, "") }],
  ["rounds numbers", "changed request /seed", "exact-numbers", { request: editJson(() => undefined) }],
  [
    "renames a member",
    "invented request /max_completion_tokens",
    "max-tokens",
    { request: replace(/"max_tokens"/g, '"max_completion_tokens"') },
  ],
  [
    "adds a default",
    "invented request /temperature",
    "max-tokens",
    { request: editJson((body) => (body["temperature"] = 1)) },
  ],
  [
    "sorts a schema",
    "changed request /response_format/json_schema/schema/properties",
    "format-members",
    { request: replace(/"zebra":(\{.*?\}),("apple":.*?\}),/g, '$2,"zebra":$1,') },
  ],
  [
    "joins messages",
    "lost request /messages/6",
    "conversation",
    { request: editJson((body) => (body["messages"] as unknown[]).pop()) },
  ],
  [
    "writes call ids of its own",
    "changed request /messages/2/tool_calls/0/id",
    "conversation",
    { request: replace(/"id":"call_Q9z"/g, '"id":"call_1"') },
  ],
  [
    "trims texts",
    "changed request /messages/1/content",
    "delicate-text",
    { request: replace(/"content":" +/g, '"content":"') },
  ],
  [
    "drops text parts",
    "changed request /messages/1/content/1/type",
    "content-parts",
    { request: replace(/\{"type":"text","text":""\},/g, "") },
  ],
  [
    "cuts long messages",
    "changed request /messages/1/content",
    "long-text",
    { request: replace(/(0123456789){20000}/g, "") },
  ],
  [
    "asks for usage in every stream",
    "invented request /stream_options",
    "plain-stream",
    { request: editJson((body) => (body["stream_options"] = { include_usage: true })) },
  ],
  [
    "answers itself",
    "lost request the request",
    "logprob-members",
    { answersItself: (body) => body.includes('"logprobs"') },
  ],
];

export const answerFaults: readonly Row[] = [
  [
    "writes ids of its own",
    "changed answer /id",
    "whole-answer",
    answer(editJson((body) => (body["id"] = "chatcmpl-own"))),
  ],
  [
    "maps finish reasons",
    "changed answer /choices/1/finish_reason",
    "whole-answer",
    answer(replace(/"length"/g, '"stop"')),
  ],
  [
    "returns one choice",
    "lost answer /choices/1",
    "whole-answer",
    answer(editJson((body) => (body["choices"] as unknown[]).splice(1))),
  ],
  [
    "changes call ids",
    "changed answer /choices/3/message/tool_calls/0/id",
    "whole-answer",
    answer(replace(/call_b/g, "call_0")),
  ],
  [
    "writes arguments again",
    "changed answer /choices/3/message/tool_calls/0/function/arguments",
    "whole-answer",
    answer(replace(/1\.0, /g, "1, ")),
  ],
  [
    "drops reasoning",
    "lost answer /choices/1/message/reasoning_content",
    "whole-answer",
    answer(replace(/,"reasoning_content":"thinking"/g, "")),
  ],
  [
    "counts tokens itself",
    "changed answer /usage/total_tokens",
    "whole-answer",
    answer(replace(/"total_tokens":22/g, '"total_tokens":23')),
  ],
  [
    "drops cached tokens",
    "lost answer /usage/prompt_tokens_details",
    "whole-answer",
    answer(replace(/"prompt_tokens_details":\{.*?\},/g, "")),
  ],
  [
    "invents a usage",
    "invented answer /usage",
    "no-usage",
    answer(editJson((body) => (body["usage"] = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }))),
  ],
  [
    "breaks characters",
    "changed answer /choices/0/message/content",
    "split-characters",
    answer(replace(/é/g, "\ufffd")),
  ],
  ["maps 400 to 500", "changed answer the status", "error-400", status((one) => (one === 400 ? 500 : one))],
  ["hides an error as 200", "changed answer the status", "error-503", status(() => 200)],
  ["drops error codes", "lost answer /error/code", "error-400", answer(replace(/,"code":"bad_order"/g, ""))],
  [
    "writes errors of its own",
    "lost answer /error",
    "error-404",
    answer(replace(/^\{"error".*/g, '{"detail":"not found"}')),
  ],
  [
    "drops retry-after",
    "lost answer header retry-after",
    "error-429",
    { answer: (reply) => ({ ...reply, headers: { ...reply.headers, "retry-after": undefined } }) },
  ],
  ["mixes answers", "changed answer one of eight answers", "isolation", { mixesAnswers: true }],
];

export const streamFaults: readonly Row[] = [
  [
    "drops the usage",
    "lost answer chunk with the usage",
    "paced-stream",
    { event: (text) => (text.includes('"usage"') ? "" : text) },
  ],
  ["drops [DONE]", "lost answer [DONE]", "plain-stream", { event: (text) => (text.includes("[DONE]") ? "" : text) }],
  ["holds a stream back", "changed answer the pace", "paced-stream", { whole: (text) => text }],
  [
    "reorders pieces",
    "changed answer the order of pieces",
    "two-choices",
    { whole: (text) => swap(text, " two", " zwei") },
  ],
  [
    "drops a piece",
    "changed answer content of choice 0",
    "burst",
    { whole: (text) => text.replace('"content":" 17"', '"content":""') },
  ],
  [
    "repeats a call's id",
    "invented answer /choices/0/delta/tool_calls/0/id",
    "streamed-calls",
    { event: replace(/(\{"index":0,)("function":\{"arguments")/g, '$1"id":"call_b",$2') },
  ],
  [
    "drops a call's beginning",
    "lost answer chunk that begins a tool call",
    "streamed-calls",
    { event: (text) => (text.includes("call_a") ? "" : text) },
  ],
  ["drops the role", "lost answer the role", "plain-stream", { event: replace(/"role":"assistant",/g, "") }],
  [
    "maps finish reasons",
    "changed answer /choices/0/finish_reason",
    "plain-stream",
    { event: replace(/"length"/g, '"stop"') },
  ],
  [
    "breaks characters",
    "changed answer characters",
    "split-events",
    { bytes: (piece) => Buffer.from(piece.toString("utf8")) },
  ],
  [
    "swallows an error event",
    "lost answer the failure",
    "failed-stream",
    { event: (text) => (text.includes('"error"') ? "" : text) },
  ],
  ["ends a cut stream cleanly", "lost answer the failure", "cut-stream", { endOfCut: "\n\n" }],
  [
    "finishes a cut stream",
    "invented answer finish_reason",
    "cut-stream",
    { endOfCut: 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n' },
  ],
  [
    "writes [DONE] after an error",
    "invented answer [DONE]",
    "failed-stream",
    { event: (text) => (text.includes('"error"') ? `${text}\n\ndata: [DONE]` : text) },
  ],
  ["answers a refused stream with 200", "changed answer the status", "refused-stream", status(() => 200)],
];

export const connectionFaults: readonly Row[] = [
  [
    "pays again for a cut answer",
    "invented connection repeated requests",
    "cut-answer",
    { repeats: (one) => one === undefined },
  ],
  [
    "sends a refused request again",
    "invented connection repeated requests",
    "error-400",
    { repeats: (one) => one === 400 },
  ],
  ["does not wait as told", "invented connection repeated requests", "error-429", { repeats: (one) => one === 429 }],
  ["reads on after a hang-up", "lost connection the hang-up", "hang-up-in-stream", { isDeafToHangUps: true }],
  ["generates on after a hang-up", "lost connection the hang-up", "hang-up-before-answer", { isDeafToHangUps: true }],
];
