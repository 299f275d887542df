import { valueAt, isRecord, listAt } from "../../src/judge/read.ts";
import type { Body, Outgoing } from "../reference/answers.ts";
import type { EngineEvent } from "../reference/engine.ts";
import type { Flag, Head, Mutant, Reply } from "../reference/mutant.ts";
import type { Violation } from "../reference/violation.ts";

/** Mutants by the names that the clauses of the contract give to the bugs. */
export type SeededBugs = Readonly<Record<string, Mutant>>;
export type Json = Record<string, unknown>;

type IsIt = (found: Violation, body: Body, head: Head) => boolean;

/** The server overlooks a violation. */
export const overlook = (isIt: IsIt): Mutant => ({
  violation: (found, body, head) => (found && isIt(found, body, head) ? undefined : found),
});
export const overlookCode = (code: string, param?: RegExp): Mutant =>
  overlook((found) => found.code === code && (param?.test(String(found.param)) ?? true));

/** The server reports a violation in another way. */
export const misjudge = (isIt: IsIt, change: Partial<Violation>): Mutant => ({
  violation: (found, body, head) => (found && isIt(found, body, head) ? { ...found, ...change } : found),
});

/** The server refuses a valid request. */
export const strict = (
  isWrong: (body: Body, head: Head) => boolean,
  status = 400,
  param: string | null = null,
): Mutant => ({
  violation: (found, body, head) =>
    found ??
    (isWrong(body, head)
      ? { status, code: status === 500 ? "internal_error" : "invalid_value", param, message: "It is not wanted." }
      : undefined),
});

/** Changes an answer. */
export const replied = (edit: (reply: Reply, head: Head) => Partial<Reply>): Mutant => ({
  reply: (reply, head) => ({ ...reply, ...edit(reply, head) }),
});
export const withHeaders = (
  edit: (headers: Readonly<Record<string, string>>, reply: Reply, head: Head) => Record<string, string>,
): Mutant => replied((reply, head) => ({ headers: edit(reply.headers, reply, head) }));
export const withoutHeaders = (
  headers: Readonly<Record<string, string>>,
  isIt: (name: string) => boolean,
): Record<string, string> => Object.fromEntries(Object.entries(headers).filter(([name]) => !isIt(name)));

/** An object without one of its members. */
export const lacking = (value: Json, name: string): Json =>
  Object.fromEntries(Object.entries(value).filter(([one]) => one !== name));

/** Changes an error. */
export const misreported = (edit: (error: Json, reply: Reply, head: Head) => Json): Mutant =>
  replied((reply, head) => {
    const { body } = reply;
    return isRecord(body) && isRecord(body["error"])
      ? { body: { ...body, error: edit(body["error"], reply, head) } }
      : {};
  });

/** Changes an answer that is not streamed. */
export const completed = (edit: (json: Json, body: Body) => unknown): Mutant => ({ completion: edit });
export const withUsage = (edit: (usage: Json, body: Body) => Json): Mutant =>
  completed((json, body) => ({ ...json, usage: edit(json["usage"] as Json, body) })); // a whole answer has its usage
export const withChoices = (edit: (choice: Json, body: Body) => Json): Mutant =>
  completed((json, body) => ({
    ...json,
    choices: listAt(json, "/choices").map((choice) => edit(choice as Json, body)),
  })); // its choices are objects
export const withMessages = (edit: (message: Json, body: Body) => Json): Mutant =>
  withChoices((choice, body) => ({ ...choice, message: edit(choice["message"] as Json, body) })); // each has a message

/** Changes the data of a stream: one event becomes none, one or several. */
export const streamed = (
  edit: (data: Json | string, place: number, body: Body) => readonly (Json | string | Outgoing)[],
): Mutant => ({
  stream: async function* (events, body) {
    let place = 0;
    for await (const event of events) {
      if ("raw" in event) yield event;
      else for (const data of edit(event.data, place, body)) yield isOutgoing(data) ? data : { data };
      place += 1;
    }
  },
});
const isOutgoing = (data: Json | string | Outgoing): data is Outgoing =>
  typeof data === "object" && ("raw" in data || "data" in data) && !("choices" in data);

/** Changes the chunks of a stream. */
export const chunked = (edit: (chunk: Json, place: number, body: Body) => Json): Mutant =>
  streamed((data, place, body) => [typeof data === "string" ? data : edit(data, place, body)]);
export const withPieces = (edit: (choice: Json, place: number, body: Body) => Json): Mutant =>
  chunked((chunk, place, body) => ({
    ...chunk,
    choices: listAt(chunk, "/choices").map((choice) => edit(choice as Json, place, body)),
  })); // pieces are objects

export const isFinish = (data: unknown): boolean => typeof valueAt(data, "/choices/0/finish_reason") === "string";
export const isUsage = (data: unknown): boolean => isRecord(valueAt(data, "/usage"));
export const deltaOf = (choice: Json): Json => (isRecord(choice["delta"]) ? choice["delta"] : {});

/** Changes the events of the engine. */
export const generated = (edit: (event: EngineEvent, body: Body) => readonly EngineEvent[]): Mutant => ({
  events: async function* (events, body) {
    for await (const event of events) yield* edit(event, body);
  },
});

export const flagged = (...flags: readonly Flag[]): Mutant => ({ flags: new Set(flags) });

/** The text of the last message of a request. */
export const lastText = (body: Body): string =>
  String(valueAt((Array.isArray(body["messages"]) ? body["messages"] : []).at(-1), "/content"));
export const messagesOf = (body: Body): readonly unknown[] => (Array.isArray(body["messages"]) ? body["messages"] : []);
export const asksFor = (scenario: string, body: Body): boolean => lastText(body) === `script:conformance-${scenario}`;
