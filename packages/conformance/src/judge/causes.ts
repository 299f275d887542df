import { catalog, faultsOf } from "../contract/contract.ts";
import type { Clause } from "../contract/contract.ts";
import type { Answer } from "../wire/answer.ts";
import { show } from "./finding.ts";
import type { Violation } from "./finding.ts";
import { choiceEvents, chunksOf, isCompletion, isRecord, textAt, usageOf, valueAt } from "./read.ts";

/** A clause that failed. */
export interface Failure {
  readonly clause: Clause;
  readonly violation: Violation;
}

/** One thing that is wrong, and every clause that fails because of it. */
export interface Cause {
  /** The clause that shows it best. */
  readonly clause: string;
  /** A phrase without a full stop. */
  readonly cause: string;
  /** The other clauses that fail with it. */
  readonly also: readonly string[];
}

/** Clauses that name a whole group of failures better than the first of them does. */
const headings = ["ERR-01", "ERR-06", "RESP-02", "STRM-18", "HTTP-29", "LIM-01"];

/**
 * Folds failures under what they have in common: one odd answer, one member that is missing everywhere, one refusal of many
 * requests. A failure that shares nothing is a cause of its own.
 */
export function causesOf(failures: readonly Failure[], answerTo: (exchange: string) => Answer | undefined): Cause[] {
  const named = failures.map((failure) => {
    const { exchange } = failure.violation;
    const answer = exchange === undefined ? undefined : answerTo(exchange);
    return { failure, name: answer && causeIn(failure, answer) };
  });
  const groups = new Map<string, Failure[]>();
  for (const { failure, name } of named) {
    const key = name ?? `${failure.clause.id} alone`;
    groups.set(key, [...(groups.get(key) ?? []), failure]);
  }
  return [...groups].map(([name, group]) => toCause(name, group));
}

function toCause(name: string, group: readonly Failure[]): Cause {
  const ids = group.map(({ clause }) => clause.id);
  const clause = headings.find((id) => ids.includes(id)) ?? ids[0] ?? "";
  const own = group.find((one) => one.clause.id === clause)?.violation;
  const isAlone = name === `${clause} alone`;
  const cause = isAlone ? `expected ${own?.expected}, got ${own?.actual}` : name;
  return { clause, cause, also: ids.filter((id) => id !== clause) };
}

/** A phrase for what is wrong with the answer, the same for every failure with this cause; undefined if nothing is shared. */
function causeIn(failure: Failure, answer: Answer): string | undefined {
  if (answer.status === undefined) return `no HTTP answer: ${answer.fault ?? answer.exchange.end}`;
  const { member } = failure.violation;
  if (member !== undefined) return memberPhrase(member.name, member.value);
  if (answer.status >= 400)
    return unknownCode(failure, answer) ?? oddAnswer(failure, answer) ?? missingHeader(failure, answer);
  const fault = faultsIn(answer).find(({ name }) => speaksOf(failure, name));
  return fault?.phrase ?? oddAnswer(failure, answer) ?? missingHeader(failure, answer);
}

/** `show` writes a missing member as "no value". */
const memberPhrase = (name: string, value: string): string =>
  value === show(undefined) ? `no ${name}` : `${name} is ${value}`;

/** The failure is about a code, and the error has none of the contract's. */
function unknownCode({ clause, violation }: Failure, answer: Answer): string | undefined {
  const error = valueAt(answer.json, "/error");
  const code = valueAt(error, "/code");
  if (!isRecord(error) || String(code) in catalog) return undefined;
  const words = `${clause.sentence} ${violation.expected}`.split(/\W+/);
  return words.some((word) => word === "code" || word in catalog) ? memberPhrase("error.code", show(code)) : undefined;
}

/** The whole answer differs from the one that the clause expects. */
function oddAnswer({ violation }: Failure, answer: Answer): string | undefined {
  const { status = 0, json, mediaType } = answer;
  const isEnvelope = textAt(json, "/error/message") !== undefined;
  if (status >= 400 && !isEnvelope)
    return `a ${status} that is not the envelope of errors (${mediaType || "no media type"})`;
  if (violation.actual !== answer.summary) return undefined;
  if (status < 400) return `"${answer.name}" is answered with ${status} ${mediaType}`;
  const message = (textAt(json, "/error/message") ?? "").replaceAll(/\d+|"[^"]*"/g, "…").slice(0, 120);
  return `${status} with the message "${message}"`;
}

const missingHeader = (failure: Failure, answer: Answer): string | undefined =>
  ["x-request-id", "x-ratelimit"]
    .filter((name) => !answer.allHeaders.some(([one]) => one.startsWith(name)) && speaksOf(failure, name))
    .map((name) => `no header ${name}`)[0];

/** The failure is about this member, header or event, by its clause or by what it expected. */
function speaksOf({ clause, violation }: Failure, name: string): boolean {
  const parts = `${clause.sentence} ${violation.expected} ${violation.actual}`.split(name);
  return parts.some((part, index) => index > 0 && !/\w$/.test(parts[index - 1] ?? "") && !/^\w/.test(part));
}

interface Fault {
  /** The member, header or event that is missing or wrong. */
  readonly name: string;
  readonly phrase: string;
}

/** The parts of a success that are missing or break the schema. */
const faultsIn = (answer: Answer): readonly Fault[] =>
  answer.mediaType === "text/event-stream" ? missingInStream(answer) : faultsOfMembers(answer);

function faultsOfMembers(answer: Answer): readonly Fault[] {
  if (!isCompletion(answer)) return [];
  return faultsOf("ChatCompletion", answer.json).map((fault) => {
    const [path = "", ...words] = fault.split(" ");
    const missing = /required property '([^']+)'/.exec(fault)?.[1];
    const name = missing ?? path.split("/").findLast((part) => /\D/.test(part)) ?? "";
    return { name, phrase: missing === undefined ? `${name} ${words.join(" ")}` : `no ${missing}` };
  });
}

function missingInStream(answer: Answer): readonly Fault[] {
  if (answer.exchange.end === "disconnected" || chunksOf(answer).length === 0) return [];
  const choices = choiceEvents(answer, 0);
  const asksUsage = (answer.exchange.request.body ?? "").includes('"include_usage":true');
  const has = {
    "[DONE]": answer.stream.events.some(({ data }) => data === "[DONE]"),
    finish_reason: choices.some((choice) => typeof valueAt(choice, "/finish_reason") === "string"),
    usage: !asksUsage || isRecord(usageOf(answer)),
    role: choices.some((choice) => valueAt(choice, "/delta/role") !== undefined),
  };
  return Object.entries(has).flatMap(([name, isThere]) => (isThere ? [] : [{ name, phrase: `no ${name}` }]));
}
