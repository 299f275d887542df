import type { Cluster } from "./cluster.ts";

/** The verdict on a row, or the reason why it could not run here. */
export type Result = { readonly found: string; readonly isKept: boolean } | { readonly skipped: string };

export interface RowOptions {
  /** Number of racing requests of each row. */
  readonly requests: number;
  /** Length of an outage in seconds. */
  readonly outageSeconds: number;
  /** Number of servers that are killed. */
  readonly kills: number;
  /** Number of streams during the rolling restart. */
  readonly streams: number;
  /** Number of ledger entries in the large database. */
  readonly entries: number;
  /** Shows the progress of a long row. */
  readonly say: (line: string) => void;
}

/** A row of the table. */
export interface Row {
  /** The name for `--only`. */
  readonly name: string;
  /** The event, in one line. */
  readonly event: string;
  readonly wanted: string;
  /** @param cluster servers that all rows share; a row may start a cluster of its own */
  readonly run: (cluster: Cluster, options: RowOptions) => Promise<Result>;
}

export const minuteMs = 60_000;

/** A bucket gives one minute's worth and the amount that refills meanwhile. */
export const grantable = (limit: number, tookMs: number): number => Math.ceil(limit + (tookMs * limit) / minuteMs);

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
