import express from "express";
import type { Express } from "express";
import { matchOperation } from "./contract/match-operation.ts";
import { validateBody } from "./contract/validate-body.ts";
import type { Deps } from "./deps.ts";
import { allowOrigins } from "./edge/allow-origins.ts";
import { logAccess } from "./edge/log-access.ts";
import { openRequest } from "./edge/open-request.ts";
import { readBody } from "./edge/read-body.ts";
import { refuseHugeHeads } from "./edge/refuse-huge-heads.ts";
import { reportError } from "./edge/report-error.ts";
import { requireKey } from "./edge/require-key.ts";
import { serveDocs } from "./edge/serve-docs.ts";
import { serveHealth } from "./edge/serve-health.ts";
import { cancelEntry, takeEntry } from "./edge/take-entry.ts";
import { waitForTurn } from "./edge/wait-for-turn.ts";
import { buildOperations } from "./operations/index.ts";
import { runOperation } from "./operations/run-operation.ts";

/** The path of every request, a line per stage. */
export function createApp(deps: Deps): Express {
  const { config } = deps;
  const app = express();
  app.disable("x-powered-by").disable("etag").enable("case sensitive routing").enable("strict routing");
  app.set("trust proxy", [...config.trustedProxies]);

  app.use(openRequest(config.requestTimeoutMs, deps.shutdown, deps.nowMs)); // names it, starts its clock, watches for the hang-up
  app.use(logAccess(deps));
  app.use(refuseHugeHeads);
  app.use(allowOrigins(config.corsOrigins)); // browsers ask before they send a key
  app.use(serveHealth(deps), serveDocs(deps.siteFolder, config)); // outside the contract, no key
  app.use("/v1", requireKey(deps.findCaller, deps.runningKeys, deps.entry.limits)); // headers only: an unauthenticated client never makes us read a body
  app.use(matchOperation); // 404, 405
  app.use(takeEntry(deps.entry)); // 402, 429, 503: what cannot be served is not read
  app.use(readBody(config.bodyTimeoutMs)); // 415, 413, 408, 400
  app.use(waitForTurn(deps.turns)); // one body at a time, keys in turn
  app.use(validateBody(deps.gate, deps.schemaCompiler)); // 400
  app.use(runOperation(buildOperations(deps))); // pick engine → fit context → admit → relay → meter
  app.use(cancelEntry(deps.entry));
  app.use(reportError(deps.log));
  return app;
}
