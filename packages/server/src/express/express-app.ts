import express from "express";
import type { Express, RequestHandler } from "express";
import type { Deps, Mount } from "../deps.ts";
import { serveDocs } from "../site/serve-docs.ts";
import { loadOnce } from "./load-once.ts";

/** Creates an Express app that passes every request to the handler. */
export function createExpressApp(handler: RequestHandler): Express {
  const app = express();
  app.disable("x-powered-by").disable("etag").enable("case sensitive routing").enable("strict routing");
  return app.use(handler);
}

/**
 * Creates the mount of Express. It serves the docs, and validates bodies with express-openapi-validator. Loading the
 * validator takes a third of a second, so it is loaded for the first body.
 */
export function createExpressMount({ openSite, config, gate: { schema } }: Deps): Mount & { load(): Promise<void> } {
  const serveSite = serveDocs(openSite, config);
  const gateOf = loadOnce(async () => {
    const { createExpressGate } = await import("./express-gate.ts");
    return createExpressGate(schema);
  });
  return {
    load: async () => void (await gateOf()),
    serveSite,
    gateFor: ({ req, res }) => ({ schema, accepts: async (body) => (await gateOf())(body, req, res) }),
  };
}
