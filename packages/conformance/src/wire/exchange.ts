import type { Ask } from "./ask.ts";

/** A request and everything that came back, byte by byte with the time of arrival. Enough to judge it again later. */
export interface Exchange {
  /** The step of the request book, with `#2` and so on for further requests of one step. */
  readonly name: string;
  readonly ask: Ask;
  /** Milliseconds since the run began. */
  readonly startedMs: number;
  readonly startedAt: string;
  readonly received: readonly Received[];
  readonly end: End;
  /** When the end came, in milliseconds since the request began. */
  readonly endedMs: number;
  /** Names of credentials of which a part came back. The values are masked in `received`. */
  readonly leaks: readonly string[];
}

export interface Received {
  /** Milliseconds since the request began. */
  readonly atMs: number;
  /** One character per byte. */
  readonly bytes: string;
}

/**
 * How it ended: the answer was whole; the server closed or reset the connection; no connection came about; the deadline
 * or the bound on the size was reached; the suite left, as planned.
 */
export type End = "complete" | "closed" | "reset" | "unreachable" | "timeout" | "too-large" | "left";
