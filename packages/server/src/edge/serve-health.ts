import { Router } from "express";
import { isCalled } from "../engines/pick-engine.ts";
import type { LedgerRecorder } from "../metering/ledger-recorder.ts";
import type { ServedModels } from "../engines/pick-engine.ts";

export interface HealthDeps {
  readonly models: ServedModels;
  readonly recorder: LedgerRecorder;
  readonly isDraining: () => boolean;
}

/** Outside the contract, without a key: whether the process lives, and whether it can answer. */
export function serveHealth({ models, recorder, isDraining }: HealthDeps): Router {
  const router = Router();
  router.get("/health", (_req, res) => void res.json({ status: "ok" }));
  router.get("/ready", (req, res) => {
    const { model: asked } = req.query;
    const shown =
      asked === undefined ? models : models.filter((model) => typeof asked === "string" && isCalled(model, asked));
    if (shown.length === 0) return void res.status(404).json({ status: "unknown_model" });
    const isReady = !isDraining() && recorder.isHealthy && shown.some(({ engine }) => engine.state === "ready");
    const states = shown.map(({ id, engine }) => [id, engine.state] as const);
    res.status(isReady ? 200 : 503).json({
      status: isReady ? "ready" : isDraining() ? "draining" : "not_ready",
      models: Object.fromEntries(states),
      ledger: recorder.isHealthy ? "ok" : "unwritable",
    });
  });
  return router;
}
