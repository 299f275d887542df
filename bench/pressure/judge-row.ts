import type { Finding, Row } from "./row.ts";
import { largest, quantile } from "./neighbour.ts";
import type { Seen } from "./neighbour.ts";
import { drainSeconds } from "./subject.ts";
import type { Stop } from "./subject.ts";

/** All measurements of a row. */
export interface Measured {
  readonly row: Pick<Row, "name" | "action" | "engine" | "granted">;
  readonly alone: Seen;
  readonly attacked: Seen;
  readonly grownBytes: number;
  /** Requests that were answered and have no closed entry in the ledger. */
  readonly lostEntries: number;
  /** How the server ended after SIGTERM; absent if it had died before. */
  readonly stop?: Stop | undefined;
  /** The reason why the server ended during the attack; absent if it did not. */
  readonly died?: string | undefined;
  readonly findings: readonly Finding[];
  /** The greatest delay of this process itself. Times below it mean nothing. */
  readonly ownDelayMs: number;
}

export interface Verdict {
  /** Events that must not happen on any machine. */
  readonly stopped: readonly string[];
  /** The aims that were missed. */
  readonly missed: readonly string[];
}

const aims = { healthMs: 250, chatMs: 1000, chatRatio: 4, grownBytes: 300e6 };
/** A request that takes longer counts as unanswered. */
const answerWithinMs = 5000;

export function judge(measured: Measured): Verdict {
  return { stopped: [...stopsOf(measured)], missed: [...missesOf(measured)] };
}

function* stopsOf({ attacked, died, stop, findings }: Measured): Generator<string> {
  if (died !== undefined) yield `the server ended: ${died}`;
  for (const [what, series] of [["/health", attacked.health] as const, ["the neighbour", attacked.chat] as const]) {
    const slowest = largest(series.timesMs);
    if (slowest > answerWithinMs) yield `${what} took ${inSeconds(slowest)}`;
    if (series.unanswered > 0) yield `${what} got no answer ${series.unanswered} times: ${series.lost[0]}`;
    if (series.timesMs.length === 0) yield `${what} was not asked`;
  }
  for (const finding of findings)
    if (finding.kind === "bound" && !finding.isKept) yield `${finding.what}: ${finding.seen}`;
  if (stop && stop.code !== 0) yield `SIGTERM ended it with ${stop.code} after ${inSeconds(stop.tookMs)}`;
}

function* missesOf({ row, alone, attacked, grownBytes, lostEntries, stop, findings }: Measured): Generator<string> {
  const health = largest(attacked.health.timesMs);
  if (health > aims.healthMs) yield `/health took ${Math.round(health)} ms`;
  const slowest = largest(attacked.chat.timesMs);
  if (slowest > Math.max(aims.chatMs, aims.chatRatio * quantile(alone.chat.timesMs, 0.5)))
    yield `the neighbour waited ${inSeconds(slowest)}`;
  const { lost } = attacked.chat;
  if (lost.length > 0) yield `${lost.length} of the neighbour's requests were lost: ${lost[0]}`;
  if (grownBytes > aims.grownBytes + (row.granted?.bytes ?? 0))
    yield `memory grew by ${Math.round(grownBytes / 1e6)} MB`;
  if (lostEntries > 0) yield `${lostEntries} ledger entries were lost`;
  for (const finding of findings)
    if (finding.kind === "aim" && !finding.isKept) yield `${finding.what}: ${finding.seen}`;
  if (stop && stop.tookMs > drainSeconds * 1000 + 5000) yield `it stopped only after ${inSeconds(stop.tookMs)}`;
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
