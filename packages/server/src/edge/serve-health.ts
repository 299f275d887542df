import { Router } from "express";
import { isCalled } from "../engines/pick-engine.ts";
import type { LedgerRecorder } from "../metering/ledger-recorder.ts";
import type { ServedModels } from "../engines/pick-engine.ts";

export interface HealthDeps {
  readonly models: ServedModels;
  readonly recorder: LedgerRecorder;
  /** From the signal on, also while requests are still taken. */
  readonly isStopping: () => boolean;
}

/** Outside the contract, without a key: whether the process lives, and whether it can answer. */
export function serveHealth({ models, recorder, isStopping }: HealthDeps): Router {
  const router = Router();
  router.get("/health", (_req, res) => void res.json({ status: "ok" }));
  router.get("/ready", (req, res) => {
    const { model: asked } = req.query;
    const shown =
      asked === undefined ? models : models.filter((model) => typeof asked === "string" && isCalled(model, asked));
    if (shown.length === 0) return void res.status(404).json({ status: "unknown_model" });
    const isReady = !isStopping() && recorder.isHealthy && shown.some(({ engine }) => engine.state === "ready");
    const states = shown.map(({ id, engine }) => [id, engine.state] as const);
    const reasons = shown.flatMap(({ id, engine }) => (engine.state === "failed" ? [[id, engine.stateReason]] : []));
    res.status(isReady ? 200 : 503).json({
      status: isReady ? "ready" : isStopping() ? "draining" : "not_ready",
      models: Object.fromEntries(states),
      ...(reasons.length > 0 && { reasons: Object.fromEntries(reasons) }),
      ledger: recorder.isHealthy ? "ok" : "unwritable",
    });
  });
  return router;
}
