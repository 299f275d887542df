import { findModel } from "../config/find-model.ts";
import type { ServedModels } from "../models/pick-engine.ts";
import type { LedgerRecorder } from "../accounts/ledger/ledger-recorder.ts";
import { probeOperation } from "../observe/request-record.ts";
import type { Exchange } from "./exchange.ts";
import { sendJson } from "./send-json.ts";

export interface HealthDeps {
  readonly models: ServedModels;
  readonly recorder: LedgerRecorder;
  /** Returns false while the store of limits that servers share cannot be reached. */
  readonly areLimitsReachable: () => boolean;
  /** Returns true while that store is away and each server grants its part of the limits. */
  readonly areLimitsDivided: () => boolean;
  /** Returns true from the shutdown signal on, even while requests are still accepted. */
  readonly isStopping: () => boolean;
}

/**
 * Answers the liveness probe `/health` and the readiness probe `/ready`. They are outside the contract and need no key.
 * @returns true if the request was a probe, which is then answered
 */
export function serveHealth(deps: HealthDeps, exchange: Exchange): boolean {
  const { req, res, path } = exchange;
  if (req.method !== "GET" && req.method !== "HEAD") return false;
  const probe = /^\/(health|ready)\/?$/iu.exec(path)?.[1]?.toLowerCase();
  if (probe !== undefined) exchange.record.operation = probeOperation;
  if (probe === "health") sendJson(res, 200, { status: "ok" });
  if (probe === "ready") sendJson(res, ...readiness(deps, modelAskedFor(exchange)));
  return probe !== undefined;
}

/** Returns the model that the probe names, undefined if it names none. Two names match no model. */
function modelAskedFor({ req, path }: Exchange): string | undefined {
  const query = req.url?.slice(path.length);
  const asked = new URLSearchParams(query).getAll("model");
  return asked.length > 1 ? "" : asked[0];
}

/** Returns the status and the body of a readiness probe. */
function readiness(
  { models, recorder, areLimitsReachable, areLimitsDivided, isStopping }: HealthDeps,
  asked: string | undefined,
): [number, object] {
  const shown = asked === undefined ? models : [findModel(models, asked) ?? []].flat();
  if (shown.length === 0) return [404, { status: "unknown_model" }];
  const areStoresUp = recorder.isHealthy && areLimitsReachable();
  const isReady = !isStopping() && areStoresUp && shown.some(({ engine }) => engine.state === "ready");
  const states = shown.map(({ id, engine }) => [id, engine.state] as const);
  const reasons = shown.flatMap(({ id, engine }) => (engine.state === "failed" ? [[id, engine.stateReason]] : []));
  const body = {
    status: isReady ? "ready" : isStopping() ? "draining" : "not_ready",
    models: Object.fromEntries(states),
    ...(reasons.length > 0 && { reasons: Object.fromEntries(reasons) }),
    ledger: recorder.isHealthy ? "ok" : "unwritable",
    ...(areLimitsDivided() && { limits: "divided" }),
    ...(!areLimitsReachable() && { limits: "unreachable" }),
  };
  return [isReady ? 200 : 503, body];
}
