import express from "express";
import type { Express, RequestHandler } from "express";
import type { Deps, Mount } from "./deps.ts";
import type { Exchange } from "./edge/exchange.ts";
import { serveDocs } from "./edge/serve-docs.ts";
import { loadOnce } from "./load-once.ts";

/** Mounts the path of every request with Express. */
export function createExpressApp(handler: RequestHandler): Express {
  const app = express();
  app.disable("x-powered-by").disable("etag").enable("case sensitive routing").enable("strict routing");
  return app.use(handler);
}

/**
 * Serves the docs with Express, and judges bodies with express-openapi-validator. Reading the validator and the contract takes a
 * third of a second, so that is done for the first body.
 */
export function createExpressMount({ siteFolder, config, gate: { schema } }: Deps): Mount & { load(): Promise<void> } {
  const docs = serveDocs(siteFolder, config);
  const gateOf = loadOnce(async () => {
    const { createExpressGate } = await import("./contract/express-gate.ts");
    return createExpressGate(schema);
  });
  return {
    load: async () => void (await gateOf()),
    serveSite: (exchange) => passThrough(docs, exchange),
    gateFor: ({ req, res }) => ({ schema, accepts: async (body) => (await gateOf())(body, req, res) }),
  };
}

/** @returns whether the handler has answered, once it has or has declined */
function passThrough(handler: RequestHandler, exchange: Exchange): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  exchange.onClose(() => resolve(true));
  // Express has made both its own, see `createExpressApp`.
  const [req, res] = [exchange.req as express.Request, exchange.res as express.Response];
  void handler(req, res, (error?: unknown) => (error === undefined ? resolve(false) : reject(error)));
  return promise;
}
