import type { Body, Outgoing } from "./answers.ts";
import type { EngineEvent } from "./engine.ts";
import type { Violation } from "./violation.ts";

/** The head of a request. */
export interface Head {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: readonly string[];
}

/** An answer that is about to be sent. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or text as it is. */
  readonly body: unknown;
}

export interface Settings {
  readonly maxBodyBytes: number;
  readonly maxLevels: number;
  readonly maxBodyValues: number;
  readonly headMs: number;
  readonly bodyMs: number;
  readonly requestMs: number;
  readonly patienceMs: number;
  readonly keepAliveMs: number;
  readonly slowReaderMs: number;
  readonly slots: number;
  readonly queueLength: number;
}

/** The outcome of an admitted request. */
export interface Row {
  readonly id: string;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_usd: string;
  readonly outcome: "complete" | "left" | "cut" | "failed" | "died";
}

/** A seeded bug: functions that change what passes through the reference server. Absent functions change nothing. */
export interface Mutant {
  readonly settings?: Partial<Settings>;
  /** Replaces the whole handling of a request. */
  readonly early?: (head: Head) => Reply | undefined;
  /** Returns whether the key is valid; it gets the server's own verdict. */
  readonly acceptsKey?: (isGood: boolean, head: Head) => boolean;
  readonly text?: (text: string, head: Head) => string;
  readonly body?: (body: Body, head: Head) => Body;
  readonly violation?: (found: Violation | undefined, body: Body, head: Head) => Violation | undefined;
  readonly ignored?: (names: readonly string[], body: Body) => readonly string[];
  readonly formatName?: (name: string) => string;
  readonly maxTokens?: (maxTokens: number, body: Body) => number;
  readonly prompt?: (count: number, body: Body) => number;
  readonly generated?: (body: Body) => Body;
  readonly events?: (events: AsyncGenerator<EngineEvent>, body: Body) => AsyncGenerator<EngineEvent>;
  readonly stream?: (events: AsyncGenerator<Outgoing>, body: Body) => AsyncGenerator<Outgoing>;
  /** A failure after the head of a stream; undefined: the stream just ends. */
  readonly streamError?: (error: Record<string, unknown>) => readonly Outgoing[];
  readonly completion?: (json: Record<string, unknown>, body: Body) => unknown;
  readonly models?: (records: readonly Record<string, unknown>[], isListing: boolean) => unknown;
  readonly reply?: (reply: Reply, head: Head) => Reply;
  readonly rows?: (row: Row) => readonly Row[];
  readonly flags?: ReadonlySet<Flag>;
}

/** Bugs that need a switch inside the reference server. */
export type Flag =
  | "path-before-key"
  | "body-before-key"
  | "budget-after-body"
  | "expect-before-key"
  | "closes-after-error"
  | "hang-up-unnoticed"
  | "plain-hang-up-unnoticed"
  | "clean-end-of-broken-stream"
  | "slow-reader-kept"
  | "place-leaks"
  | "early-failure-in-stream"
  | "head-held"
  | "no-keep-alive"
  | "keep-alive-as-event"
  | "edge-without-envelope"
  | "bare-204-options"
  | "first-member-counts"
  | "finish-unchecked"
  | "events-collected"
  | "failure-sticks"
  | "stand-in"
  | "refusals-recorded"
  | "receipts-for-all"
  | "foreign-receipt-told"
  | "lookups-count"
  | "odd-keys-accepted"
  | "idempotency-shared"
  | "reused-key-answered"
  | "repetition-runs"
  | "failure-kept"
  | "left-call-stopped"
  | "left-answer-dropped"
  | "repetition-charged"
  | "repetition-unmarked"
  | "full-queue-waits"
  | "maximum-reserved-whole"
  | "bad-request-in-stream";
