import type { IncomingMessage } from "node:http";
import { isCalled } from "../engines/pick-engine.ts";
import type { ServedModels } from "../engines/pick-engine.ts";
import type { LedgerRecorder } from "../metering/ledger-recorder.ts";
import { sendJson } from "./send-json.ts";
import { pathOf } from "./stage.ts";
import type { Stage } from "./stage.ts";

export interface HealthDeps {
  readonly models: ServedModels;
  readonly recorder: LedgerRecorder;
  /** From the signal on, also while requests are still taken. */
  readonly isStopping: () => boolean;
}

/** Outside the contract, without a key: whether the process lives, and whether it can answer. */
export function serveHealth(deps: HealthDeps): Stage {
  return function serveHealth(req, res) {
    if (req.method !== "GET" && req.method !== "HEAD") return;
    const path = pathOf(req);
    if (/^\/health\/?$/iu.test(path)) sendJson(res, 200, { status: "ok" });
    if (/^\/ready\/?$/iu.test(path)) sendJson(res, ...readiness(deps, modelAskedFor(req)));
  };
}

/** Undefined where no model is named. Two are no name. */
function modelAskedFor(req: IncomingMessage): string | undefined {
  const query = req.url?.slice(pathOf(req).length);
  const asked = new URLSearchParams(query).getAll("model");
  return asked.length > 1 ? "" : asked[0];
}

/** Status and body of the answer. */
function readiness({ models, recorder, isStopping }: HealthDeps, asked: string | undefined): [number, object] {
  const shown = asked === undefined ? models : models.filter((model) => isCalled(model, asked));
  if (shown.length === 0) return [404, { status: "unknown_model" }];
  const isReady = !isStopping() && recorder.isHealthy && shown.some(({ engine }) => engine.state === "ready");
  const states = shown.map(({ id, engine }) => [id, engine.state] as const);
  const reasons = shown.flatMap(({ id, engine }) => (engine.state === "failed" ? [[id, engine.stateReason]] : []));
  const body = {
    status: isReady ? "ready" : isStopping() ? "draining" : "not_ready",
    models: Object.fromEntries(states),
    ...(reasons.length > 0 && { reasons: Object.fromEntries(reasons) }),
    ledger: recorder.isHealthy ? "ok" : "unwritable",
  };
  return [isReady ? 200 : 503, body];
}
