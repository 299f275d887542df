import type { Duty } from "./duty.ts";

/** One row of the table. */
export interface Figure {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly digits: number;
  /** True if a higher value is better. */
  readonly isMoreBetter?: boolean;
  /** The measurement that gives it. */
  readonly row: RowName;
}

export const rowNames = [
  "memory", // first, because a process keeps memory of its other loads
  "plain",
  "whole-streams",
  "paced",
  "streams-500",
  "streams-100",
  "one-token",
  "latency",
  "requests",
  "burst",
  "start",
] as const;
export type RowName = (typeof rowNames)[number];

/** The tokens of a plain answer. */
export const answerTokens = 160;

export const figuresOf = (duty: Duty): readonly Figure[] => [
  cpu("plain", "plain", `plain answer of ${answerTokens} tokens, 64 at a time, engine answers at once`),
  rate("plain-rate", "plain", `plain answers of ${answerTokens} tokens, 64 at a time, engine answers at once`),
  cpu("stream", "whole-streams", `stream of ${answerTokens} events, 64 at a time, engine answers at once`),
  rate("stream-rate", "whole-streams", `streams of ${answerTokens} events, 64 at a time, engine answers at once`),
  cpu("paced", "paced", `plain answer of ${answerTokens} tokens, 64 at a time, engine makes a token in 5 ms`),
  cpu("event-500", "streams-500", `one streamed event, ${duty.manyStreams} streams at 20 ms`),
  cpu("event-100", "streams-100", `one streamed event, ${duty.fewStreams} streams at 20 ms`),
  cpu("one-token", "one-token", "stream of one token on a new connection"),
  figure("gap-500", "streams-500", `99 % of gaps between events, ${duty.manyStreams} streams`, "ms", 1),
  figure("open-500", "streams-500", `${duty.manyStreams} streams opened while all speak`, "ms", 0),
  figure("first-token", "latency", "first token, one at a time", "ms", 3),
  figure("answer", "latency", "plain answer, one at a time", "ms", 3),
  rate("requests", "requests", `answers at ${duty.connections} connections, ${duty.answerSeconds} s each`),
  figure("burst-lost", "burst", `of ${duty.burst} streams opened at once: refused or cut`, "streams", 0),
  figure("burst-time", "burst", `${duty.burst} streams opened at once, until all have ended`, "ms", 0),
  figure("after-lost", "burst", `the same right after ${duty.broken} were broken off: refused or cut`, "streams", 0),
  figure("after-time", "burst", `the same right after ${duty.broken} were broken off: until all have ended`, "ms", 0),
  figure("stream-memory", "memory", `memory of a silent stream, ${duty.silentStreams} of them`, "KiB", 1),
  figure("rest-memory", "start", "memory at rest, before the first load", "MB", 0),
  figure("health", "start", "from start to the first answer of /health", "ms", 0),
];

const figure = (id: string, row: RowName, title: string, unit: string, digits: number): Figure => ({
  id,
  row,
  title,
  unit,
  digits,
});

const cpu = (id: string, row: RowName, title: string): Figure => figure(id, row, title, "CPU-µs", 1);

const rate = (id: string, row: RowName, title: string): Figure => ({
  ...figure(id, row, title, "per s", 0),
  isMoreBetter: true,
});
