import type { GroupStore } from "../accounts/groups/group-store.ts";
import type { NoteRefusedToken } from "../accounts/identity/refused-token.ts";
import type { RequestIdempotency } from "../accounts/idempotency/idempotency-keys.ts";
import type { KeyStore } from "../accounts/keys/key-store.ts";
import type { RequestLedger } from "../accounts/ledger/usage-ledger.ts";
import type { Config } from "../config/read-config.ts";
import type { ProcessState } from "@parley/inference/embedded";
import type { CountAttempt } from "../models/engine-options.ts";
import type { RequestRecord } from "../observe/request-record.ts";
import type { Site } from "../site/open-site.ts";
import { callsOf } from "./call-channel.ts";
import type { HeldLimits } from "./held-limits.ts";
import type { HeldSlots } from "./held-slots.ts";
import type { ProcessNumbers } from "./worker-totals.ts";

/** The setup of a worker. */
export interface WorkerSetup {
  /** 1 or more. A new worker has the number of the one that it replaces. */
  readonly worker: number;
  /** Bounds that all workers share are divided already: each is the part of this worker. */
  readonly config: Config;
  /** The folder with the sockets of the engines. */
  readonly runFolder: string;
  readonly cacheSecret: Uint8Array;
}

/** The state of an engine of the parent. */
export type EngineNews = Pick<ProcessState, "state" | "reason" | "metadata" | "restarts" | "isStalled">;

/** The states that a worker knows only from its parent. */
export interface ParentNews {
  /** By model id. */
  readonly engines: Readonly<Record<string, EngineNews>>;
  readonly areLimitsReachable: boolean;
  readonly areLimitsDivided: boolean;
}

/** The parent of a worker, besides the state that it opened. */
export interface Parent {
  /** The worker has loaded its program, and can be started. */
  enter(): void;
  openSite(): Promise<Site>;
  /** Checks an engine after a request failed as if it were dead. */
  confirmFailure(model: string): Promise<void>;
  countRequest(record: RequestRecord, status: number, durationMs: number): void | Promise<void>;
  countAttempt(...ended: Parameters<CountAttempt>): void;
  /** Records a refused token in the audit log. */
  noteRefusedToken(...refusal: Parameters<NoteRefusedToken>): void;
  /** Writes a line of the log, as JSON. */
  log(line: string): void;
}

/** A worker, as its parent sees it. */
export interface Worker {
  /** Opens the port. @returns the URL of the server @throws {ListenError} {ConfigError} */
  start(setup: WorkerSetup): Promise<string>;
  hear(news: ParentNews): void;
  /** Takes new settings. Bounds that all workers share are divided already: each is the part of this worker. */
  reload(config: Config): void;
  /** Resolves when the worker can send requests to the engines of these models. */
  whenReady(models: readonly string[]): Promise<void>;
  observe(): Promise<ProcessNumbers>;
  /** Drains the worker, and ends its parts. */
  close(lameDuckMs: number): Promise<void>;
}

export const keyCalls = callsOf<KeyStore>()("keys", ["find", "insert", "update"]);
export const groupCalls = callsOf<GroupStore>()("groups", ["findNamed"]);
export const ledgerCalls = callsOf<RequestLedger>()("ledger", [
  "open",
  "withdraw",
  "checkpoint",
  "close",
  "spentUsd",
  "find",
  "groupSpentUsd",
  "assertWritable",
]);
export const idempotencyCalls = callsOf<RequestIdempotency>()("idempotency", ["claim", "keep", "release"]);
export const limitCalls = callsOf<HeldLimits>()("limits", ["states", "take", "takeTokens", "commit", "rollback"]);
export const slotCalls = callsOf<HeldSlots>()(
  "slots",
  ["enter", "leave", "count", "endChoice", "commit"],
  ["leave", "count", "endChoice", "commit"],
);
export const parentCalls = callsOf<Parent>()(
  "parent",
  ["enter", "openSite", "confirmFailure", "countRequest", "countAttempt", "noteRefusedToken", "log"],
  ["enter", "countRequest", "countAttempt", "noteRefusedToken", "log"],
);
export const workerCalls = callsOf<Worker>()(
  "worker",
  ["start", "hear", "reload", "whenReady", "observe", "close"],
  ["hear"],
);
