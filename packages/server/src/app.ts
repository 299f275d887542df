import type { IncomingMessage, RequestListener } from "node:http";
import proxyaddr from "proxy-addr";
import type { RequestGate } from "./contract/request-gate.ts";
import { matchOperation } from "./contract/match-operation.ts";
import { validateBody } from "./contract/validate-body.ts";
import type { Deps } from "./deps.ts";
import { allowOrigins } from "./edge/allow-origins.ts";
import { logAccess } from "./edge/log-access.ts";
import { openRequest } from "./edge/open-request.ts";
import { readBody } from "./edge/read-body.ts";
import { refuseHugeHeads } from "./edge/refuse-huge-heads.ts";
import { failRequest } from "./edge/report-error.ts";
import { requireKey } from "./edge/require-key.ts";
import { runStages } from "./edge/run-stages.ts";
import { serveHealth } from "./edge/serve-health.ts";
import { isProbe } from "./edge/socket-places.ts";
import { pathOf } from "./edge/stage.ts";
import type { FailureStage, Stages } from "./edge/stage.ts";
import { takeEntry } from "./edge/take-entry.ts";
import { waitForTurn } from "./edge/wait-for-turn.ts";
import { loadOnce } from "./load-once.ts";
import { buildOperations } from "./operations/index.ts";
import { runOperation } from "./operations/run-operation.ts";

/** The path of every request, a line per stage. */
function stagesOf(deps: Deps, gate: RequestGate): Stages {
  const { config, shutdown, nowMs } = deps;
  const isTrusted = proxyaddr.compile([...config.trustedProxies]);
  const addressOf = (req: IncomingMessage): string => proxyaddr(req, isTrusted);
  return {
    ofEveryRequest: [
      openRequest({ requestTimeoutMs: config.requestTimeoutMs, shutdown, addressOf, nowMs }), // names it, starts its clock, watches for the hang-up
      logAccess(deps),
      refuseHugeHeads,
      allowOrigins(config.corsOrigins), // browsers ask before they send a key
      serveHealth(deps), // outside the contract, no key
    ],
    ofContract: [
      requireKey(deps), // headers only: an unauthenticated client never makes us read a body
      matchOperation, // 404, 405
      takeEntry(deps.entry), // 402, 429, 503: what cannot be served is not read
      readBody(config.bodyTimeoutMs, deps.turns), // 415, 413, 408, 400
      waitForTurn(deps.turns), // one body at a time, keys in turn
      validateBody(gate, deps.schemaCompiler), // 400
      runOperation(buildOperations(deps), deps.entry.limits), // pick engine → fit context → admit → relay → meter
    ],
    fail: failRequest(deps.entry.limits, deps.log, deps.turns),
  };
}

/** What takes requests to the stages: Node's server alone, or Express with its validator. */
export type Mount = "node" | "express";

/**
 * Chat completions and probes go through the stages right on Node's server. Everything else goes through Express, which also
 * serves the docs, and is loaded for the first request that needs it.
 * @param mount for chat completions; tests run them through both
 */
export function createApp(deps: Deps, mount: Mount): RequestListener {
  const { ofEveryRequest, ofContract, fail } = stagesOf(deps, deps.gate);
  const onNode = runStages([...ofEveryRequest, ...ofContract], fail);
  const onExpress = throughExpress(deps, mount, fail);
  return (req, res) => {
    const isOnNode = isProbe(req.url ?? "") || (mount === "node" && isChat(req));
    (isOnNode ? onNode : onExpress)(req, res);
  };
}

const isChat = (req: IncomingMessage): boolean => req.method === "POST" && pathOf(req) === "/v1/chat/completions";

function throughExpress(deps: Deps, mount: Mount, fail: FailureStage): RequestListener {
  const app = loadOnce(() => loadExpress(deps, mount));
  return (req, res) => {
    const handle = (listener: RequestListener): void => {
      // Its caller may have left while Express was loaded.
      if (!res.destroyed) listener(req, res);
    };
    app()
      .then(handle)
      .catch((error: unknown) => fail(error, req, res));
  };
}

async function loadExpress(deps: Deps, mount: Mount): Promise<RequestListener> {
  const { createExpressApp, loadGate, loadGateLater } = await import("./express-app.ts");
  // Loading it must not take time of a request that has begun.
  const gate = mount === "express" ? await loadGate(deps.gate.schema) : loadGateLater(deps.gate.schema);
  return createExpressApp(stagesOf(deps, gate), deps);
}
