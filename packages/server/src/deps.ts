import type { SchemaCompiler } from "@parley/inference";
import type { Config } from "./config/read-config.ts";
import type { RequestGate } from "./chat/body/request-gate.ts";
import type { Exchange } from "./http/exchange.ts";
import type { KeyDeps } from "./http/require-key.ts";
import type { Site } from "./site/open-site.ts";
import type { LoopTurns } from "./http/loop-turns.ts";
import type { Limits } from "./accounts/limits/limits.ts";
import type { LedgerRecorder } from "./accounts/ledger/ledger-recorder.ts";
import type { Log } from "./observe/log.ts";
import type { Metrics } from "./observe/metrics.ts";
import type { Tracing } from "./observe/tracing.ts";
import type { RefusalSample, RepeatedFaults } from "./observe/refusal-sample.ts";
import type { AllDeps } from "./operations/run-operation.ts";

/** All dependencies of the request path. `server.ts` creates them. */
export interface Deps extends AllDeps, KeyDeps {
  readonly config: Config;
  /** Returns the built docs portal. The first call may take seconds. */
  readonly openSite: () => Promise<Site>;
  readonly gate: RequestGate;
  readonly schemaCompiler: SchemaCompiler;
  readonly turns: LoopTurns;
  readonly limits: Limits;
  readonly recorder: LedgerRecorder;
  /** Aborts when the server no longer waits for running requests. */
  readonly shutdown: AbortSignal;
  readonly isStopping: () => boolean;
  /** Returns false while the store of limits that servers share cannot be reached. */
  readonly areLimitsReachable: () => boolean;
  /** Returns true while that store is away and each server grants its part of the limits. */
  readonly areLimitsDivided: () => boolean;
  readonly log: Log;
  readonly refusals: RefusalSample;
  readonly faults: RepeatedFaults;
  readonly metrics: Pick<Metrics, "countRequest">;
  /** Undefined: no request is traced. */
  readonly tracing: Pick<Tracing, "begin"> | undefined;
}

/** The parts of the request path that differ between Node's server and Express. */
export interface Mount {
  /**
   * Answers a request for a page or a document of the contract, if this mount serves them.
   * @returns whether it has answered
   */
  readonly serveSite?: (exchange: Exchange) => Promise<boolean>;
  /** Returns the validator for the body of a request. */
  readonly gateFor: (exchange: Exchange) => RequestGate;
}
