import express from "express";
import type { ErrorRequestHandler, Express, RequestHandler } from "express";
import type { RequestGate } from "./contract/request-gate.ts";
import type { Schema } from "./contract/schema.ts";
import type { Deps } from "./deps.ts";
import { serveDocs } from "./edge/serve-docs.ts";
import { isOver } from "./edge/stage.ts";
import type { FailureStage, Stage, Stages } from "./edge/stage.ts";
import { loadOnce } from "./load-once.ts";

/** Mounts the stages with Express, and the docs between them. */
export function createExpressApp(stages: Stages, { siteFolder, config }: Pick<Deps, "siteFolder" | "config">): Express {
  const app = express();
  app.disable("x-powered-by").disable("etag").enable("case sensitive routing").enable("strict routing");
  app.use(stages.ofEveryRequest.map(toHandler));
  app.use(serveDocs(siteFolder, config)); // outside the contract, no key
  app.use(stages.ofContract.map(toHandler));
  app.use(toErrorHandler(stages.fail));
  return app;
}

const toHandler = (stage: Stage): RequestHandler =>
  async function runStage(req, res, next) {
    await stage(req, res);
    if (!isOver(res)) next();
  };

const toErrorHandler = (fail: FailureStage): ErrorRequestHandler =>
  // Express recognises an error handler by its four parameters.
  async function runFailureStage(thrown: unknown, req, res, _next) {
    await fail(thrown, req, res);
  };

/** express-openapi-validator. Reading it and the contract takes a third of a second. */
export async function loadGate(schema: Schema): Promise<RequestGate> {
  const { createExpressGate } = await import("./contract/express-gate.ts");
  return createExpressGate(schema);
}

/** The same, loaded for the first body that it judges. */
export function loadGateLater(schema: Schema): RequestGate {
  const gate = loadOnce(() => loadGate(schema));
  return { schema, accepts: async (...request) => (await gate()).accepts(...request) };
}
