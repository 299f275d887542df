import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { contractFolder } from "./redocly.ts";

/** The data of an event. Its type is loose, because the cases break it on purpose. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Event = any;
type Change = (events: Event[]) => Event[];

/** Reads the events of `examples/stream-<name>.sse`. */
export async function readExample(name: string): Promise<Event[]> {
  const text = await readFile(join(contractFolder, "examples", `stream-${name}.sse`), "utf8");
  const data = text.split("\n").filter((line) => line.startsWith("data: "));
  return data.map((line) => line.slice(6)).map((word) => (word === "[DONE]" ? word : JSON.parse(word)));
}

export function write(events: Event[]): string {
  return events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");
}

const choice = (event: Event, change: object) => ({ ...event, choices: [{ ...event.choices[0], ...change }] });
const delta = (event: Event, value: object) => choice(event, { delta: value });
const finish = (event: Event, reason: unknown) => choice(event, { finish_reason: reason });
const usage = (event: Event, change: object) => ({ ...event, usage: { ...event.usage, ...change } });
const counts = (event: Event) => ({ ...event, choices: [], usage: { total_tokens: 0 } });
const call = (event: Event, change: object) => delta(event, { tool_calls: [{ index: 0, ...change }] });
const error = { error: { message: "m", type: "server_error", param: null, code: "timeout" }, request_id: "req_1" };

/** Legal streams: title, example, the change to the example, and the state in which the stream ends. */
export const legal: [title: string, example: string, change: Change, end: string][] = [
  ["an answer", "plain", (e) => e, "done"],
  ["an empty answer", "plain", (e) => [e[0], ...e.slice(-2)], "done"],
  ["usage at the end", "usage", (e) => e, "done"],
  ["two tool calls", "tools", (e) => e, "done"],
  [
    "a call that the token limit truncates",
    "tools",
    (e) => [...e.slice(0, -3), finish(e.at(-3), "length"), ...e.slice(-2)],
    "done",
  ],
  ["reasoning", "reasoning", (e) => e, "done"],
  ["two choices, side by side", "choices", (e) => e, "done"],
  ["log-probabilities", "logprobs", (e) => e, "done"],
  ["an error in the middle", "error", (e) => e, "failed"],
  ["an error at once", "error", (e) => e.slice(-1), "failed"],
  ["an error after the usage", "usage", (e) => [...e.slice(0, -1), error], "failed"],
  ["a broken connection", "plain", (e) => e.slice(0, 3), "open"],
  ["a break before the last word", "plain", (e) => e.slice(0, -1), "open"],
  ["a break after the usage", "usage", (e) => e.slice(0, -1), "counted"],
];

/** Broken streams: title, example, the change to the example, and the violation that has to be found. */
export const broken: [title: string, example: string, change: Change, violation: string][] = [
  ["the role is missing", "plain", (e) => e.slice(1), "choice text in waiting"],
  ["the role comes late", "plain", ([role, text]) => [text, role], "choice text in waiting"],
  ["reasoning comes before the role", "reasoning", (e) => e.slice(1), "choice reasoning in waiting"],
  ["a call comes before the role", "tools", (e) => e.slice(1), "choice tools in waiting"],
  ["a choice ends before it began", "plain", (e) => e.slice(-2), "choice finish-stop in waiting"],
  [
    "a choice is truncated before it began",
    "plain",
    (e) => [finish(e.at(-2), "length")],
    "choice finish-truncated in waiting",
  ],
  ["it calls before it began", "plain", (e) => [finish(e.at(-2), "tool_calls")], "choice finish-calls in waiting"],
  ["the role comes twice", "plain", ([role]) => [role, role], "choice role in open"],
  [
    "the role comes with text",
    "plain",
    ([role]) => [delta(role, { role: "assistant", content: "A" })],
    "choice unknown",
  ],
  ["the finish rides on text", "plain", ([role, text]) => [role, finish(text, "stop")], "choice unknown"],
  ["the reason is not legal", "plain", (e) => [e[0], finish(e.at(-2), "abort")], "choice unknown"],
  ["the reason is absent", "plain", ([role, text]) => [role, finish(text, undefined)], "choice unknown"],
  ["the delta is absent", "plain", (e) => [e[0], choice(e.at(-2), { delta: undefined })], "choice unknown"],
  [
    "one event has two kinds",
    "plain",
    ([role]) => [role, delta(role, { content: "A", tool_calls: [{}] })],
    "choice unknown",
  ],
  ["reasoning lacks a name", "reasoning", ([role]) => [role, delta(role, { reasoning: "A" })], "choice unknown"],
  ["text follows the finish", "plain", (e) => [...e.slice(0, -1), e[1]], "choice text in finished"],
  ["reasoning follows the finish", "reasoning", (e) => [e[0], e.at(-3), e[1]], "choice reasoning in finished"],
  ["a call follows the finish", "tools", (e) => [e[0], finish(e.at(-3), "length"), e[1]], "choice tools in finished"],
  ["the role follows the finish", "plain", (e) => [...e.slice(0, -1), e[0]], "choice role in finished"],
  ["a choice finishes twice", "plain", (e) => [...e.slice(0, -1), e.at(-2)], "choice finish-stop in finished"],
  [
    "it is truncated, too",
    "plain",
    (e) => [...e.slice(0, -1), finish(e.at(-2), "length")],
    "choice finish-truncated in finished",
  ],
  [
    "it calls, too",
    "plain",
    (e) => [...e.slice(0, -1), finish(e.at(-2), "tool_calls")],
    "choice finish-calls in finished",
  ],
  ["a choice was not asked for", "plain", ([role]) => [choice(role, { index: 1 })], "choice role unless index-asked"],
  ["a stop hides calls", "tools", (e) => [e[0], e[1], finish(e.at(-3), "stop")], "choice finish-stop unless no-calls"],
  ["no call came", "tools", (e) => [e[0], finish(e.at(-3), "tool_calls")], "choice finish-calls unless some-call"],
  ["a call index is left out", "tools", (e) => [e[0], e[4]], "call begin unless no-gap"],
  ["arguments come before their call", "tools", (e) => [e[0], e[2]], "call more in absent"],
  ["a call begins twice", "tools", ([role, begin]) => [role, begin, begin], "call begin in begun"],
  [
    "a call repeats its id",
    "tools",
    ([r, c]) => [r, c, call(c, { id: "x", function: { arguments: "" } })],
    "call unknown",
  ],
  [
    "a call repeats its name",
    "tools",
    ([r, c]) => [r, c, call(c, { function: { name: "x", arguments: "" } })],
    "call unknown",
  ],
  [
    "one event has two choices",
    "choices",
    ([a, b]) => [{ ...a, choices: [...a.choices, ...b.choices] }],
    "stream unknown",
  ],
  ["another word ends the stream", "plain", (e) => [...e.slice(0, -1), "[END]"], "stream unknown"],
  ["an error has choices", "error", (e) => [{ ...e.at(-1), choices: [] }], "stream unknown"],
  ["an error has no request id", "error", (e) => [{ ...e.at(-1), request_id: undefined }], "stream unknown"],
  ["the end comes too early", "plain", (e) => [e[0], e.at(-1)], "stream done unless all-finished"],
  ["one of two choices is missing", "choices", (e) => e.filter(isNotSecond), "stream usage unless all-finished"],
  ["the end comes twice", "plain", (e) => [...e, "[DONE]"], "stream done in done"],
  ["a piece follows the end", "plain", (e) => [...e, e[1]], "stream piece in done"],
  ["an error follows the end", "plain", (e) => [...e, error], "stream error in done"],
  ["the counts follow the end", "usage", (e) => [...e, e.at(-2)], "stream usage in done"],
  ["the end follows an error", "error", (e) => [...e, "[DONE]"], "stream done in failed"],
  ["a piece follows an error", "error", (e) => [...e, e[1]], "stream piece in failed"],
  ["a second error follows", "error", (e) => [...e, error], "stream error in failed"],
  ["the counts follow an error", "error", (e) => [...e, counts(e[0])], "stream usage in failed"],
  ["the counts come unasked", "plain", (e) => [...e.slice(0, -1), counts(e[0])], "stream usage unless usage-asked"],
  ["the counts come too early", "usage", (e) => [e[0], e.at(-2)], "stream usage unless all-finished"],
  ["the counts come twice", "usage", (e) => [...e.slice(0, -1), e.at(-2)], "stream usage in counted"],
  ["a piece follows the counts", "usage", (e) => [...e.slice(0, -1), e[1]], "stream piece in counted"],
  ["the counts are missing", "usage", (e) => [...e.slice(0, -2), "[DONE]"], "stream done unless usage-not-asked"],
  ["usage is absent, not null", "usage", (e) => [{ ...e[0], usage: undefined }], "invariant usage-null"],
  ["usage is null, unasked", "plain", (e) => [{ ...e[0], usage: null }], "invariant usage-absent"],
  [
    "the total is wrong",
    "usage",
    (e) => [...e.slice(0, -2), usage(e.at(-2), { total_tokens: 1 })],
    "invariant usage-sum",
  ],
  ["the names of reasoning differ", "reasoning", differentReasoning, "invariant reasoning-twice"],
  ["the id changes", "plain", ([a, b]) => [a, { ...b, id: "chatcmpl-x" }], "invariant same-identity"],
  ["the time changes", "plain", ([a, b]) => [a, { ...b, created: 1 }], "invariant same-identity"],
  ["the model changes", "plain", ([a, b]) => [a, { ...b, model: "x/y" }], "invariant same-identity"],
  [
    "the fingerprint comes late",
    "plain",
    ([a, b]) => [{ ...a, system_fingerprint: undefined }, b],
    "invariant same-identity",
  ],
];

function isNotSecond(event: Event): boolean {
  return event.choices?.[0]?.index !== 1;
}

function differentReasoning([role]: Event[]): Event[] {
  return [role, delta(role, { reasoning: "A", reasoning_content: "B" })];
}
