import type { RequestListener, ServerResponse } from "node:http";
import admin from "@parley/contract/admin.json" with { type: "json" };
import express from "express";
import type { NextFunction, Request, Response } from "express";
import * as OpenApiValidator from "express-openapi-validator";
import { sourceOf } from "../accounts/audit/audit-log.ts";
import { assertScope } from "../accounts/manage/actor.ts";
import type { Actor } from "../accounts/manage/actor.ts";
import { ManageError } from "../accounts/manage/manage-error.ts";
import { performFor, routes } from "../accounts/manage/perform.ts";
import type { ManageDeps, Perform, Route } from "../accounts/manage/perform.ts";
import type { Input, Operation } from "../accounts/manage/verb.ts";
import type { Config } from "../config/read-config.ts";
import { newId } from "../http/new-id.ts";
import { sendJson } from "../http/send-json.ts";
import type { Log } from "../observe/log.ts";
import { explainError, explainFault, sendError } from "./admin-error.ts";
import { adminFinder, tokenOf } from "./find-admin.ts";
import { readAdminBody } from "./read-admin-body.ts";

export interface AdminDeps extends ManageDeps, Pick<Config, "trustedProxies"> {
  readonly log: Log;
}

/** A request whose admin key is known. */
interface AdminRequest extends Request {
  actor?: Actor;
}

/** Creates the listener of the admin API. express-openapi-validator holds requests to the contract. */
export function createAdminApp(deps: AdminDeps): RequestListener {
  const app = express();
  app.disable("x-powered-by").disable("etag").enable("case sensitive routing").enable("strict routing");
  // `ip` is then the address that proxy-addr finds, as on the public port.
  app.set("trust proxy", [...deps.trustedProxies]);
  app.use(authenticate(deps));
  app.use(async (req: Request, _res: Response, next: NextFunction) => {
    // Express would ignore a slash at the end.
    if (req.path.endsWith("/")) throw new ManageError("not_found", `There is no path ${req.path.slice(0, 200)}.`);
    req.body = await readAdminBody(req);
    next();
  });
  app.use(
    OpenApiValidator.middleware({
      apiSpec: documentForValidator() as unknown as string, // a document of OpenAPI 3.1
      validateApiSpec: false, // the lint step has checked the contract
      validateSecurity: false,
      validateResponses: false,
      fileUploader: false,
      validateRequests: { allErrors: false },
    }),
  );
  app.use((req: Request, res: Response) => answer(deps, req, res));
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    const requestId = String(res.getHeader("x-request-id"));
    const refusal = explainError(error, req, res) ?? explainFailure(deps, error, requestId);
    if (!res.headersSent && !req.complete) {
      // The rest of a body that was refused is not read, so the connection cannot carry another request.
      res.setHeader("connection", "close");
      res.once("finish", () => req.destroy());
    }
    if (res.headersSent) res.destroy();
    else sendError(res, requestId, refusal);
  });
  return (req, res) => {
    res.setHeader("x-request-id", newId("req_", 16));
    res.setHeader("cache-control", "no-store");
    app(req, res);
  };
}

/**
 * Returns a copy of the contract, since the validator writes into it. Query parameters may have characters that OpenAPI calls
 * reserved, such as the colons of a time: without `allowReserved`, the validator wants even `+` for a space to be escaped.
 */
function documentForValidator(): object {
  const document = structuredClone({ ...admin, servers: [{ url: "/" }] });
  for (const parameter of Object.values(document.components.parameters))
    if (parameter.in === "query") Object.assign(parameter, { allowReserved: true });
  return document;
}

/** Logs a fault of this server, whose cause the answer does not reveal. */
function explainFailure({ log }: AdminDeps, error: unknown, requestId: string): ManageError {
  log.error({ err: error, request_id: requestId }, "a request to the admin API failed");
  return explainFault(error);
}

const incorrect =
  "Incorrect admin key provided. Send one valid admin key in one header, as: Authorization: Bearer <ADMIN_KEY>.";

/** Returns the middleware that finds the admin key. All keys that are not accepted get one answer, and are recorded. */
function authenticate(deps: AdminDeps) {
  const find = adminFinder(deps.state, deps.nowMs);
  return async (req: AdminRequest, _res: Response, next: NextFunction): Promise<void> => {
    const from = sourceOf(req.ip, req.headers["user-agent"]);
    const { key, known } = await find(tokenOf(req));
    if (key) {
      req.actor = { kind: "admin_key", name: key.name, key, from };
      next();
      return;
    }
    const actor = known
      ? ({ kind: "admin_key", id: known.id, name: known.name } as const)
      : ({ kind: "unknown", name: "" } as const);
    const record = { atMs: deps.nowMs(), actor, from, action: "authenticate", target: { groupId: known?.groupId } };
    await deps.refused.note({ ...record, outcome: "refused", reason: incorrect, attempts: 1 });
    throw new ManageError("invalid_admin_key", incorrect);
  };
}

/** The data that the validator adds to a request. */
interface Matched {
  readonly openapi?: {
    readonly schema: { readonly operationId: Route["operation"] };
    readonly pathParams: Readonly<Record<string, string>>;
  };
}

async function answer(deps: AdminDeps, req: AdminRequest, res: ServerResponse): Promise<void> {
  const { openapi } = req as Matched;
  // `authenticate` has run.
  const actor = req.actor as Actor;
  if (!openapi) throw new ManageError("not_found", "There is no such path.");
  const { operationId } = openapi.schema;
  const perform = performFor(deps, actor);
  // The validator has checked all parts.
  const input = {
    id: openapi.pathParams["id"],
    query: req.query,
    body: req.body as unknown,
  } as unknown as Input<Operation>;
  if (operationId === "exportAudit") {
    assertScope(actor, routes.find(({ operation }) => operation === "exportAudit")?.scope);
    await exportAudit(perform, input, res);
    return;
  }
  // A pruning may take minutes, in which the connection is silent.
  const { socket } = res;
  const idleMs = socket?.timeout ?? 0;
  socket?.setTimeout(0);
  const result = await perform(operationId, input).finally(() => socket?.setTimeout(idleMs));
  if (result === undefined) {
    res.statusCode = 204;
    res.end();
    return;
  }
  const isCreated = operationId.startsWith("create");
  sendJson(res, isCreated ? 201 : 200, result);
}

/** Writes the audit log as lines of JSON, page by page, as fast as the client reads. */
async function exportAudit(perform: Perform, { query }: Input<"listAudit">, res: ServerResponse): Promise<void> {
  let next: string | null | undefined;
  do {
    const page = await perform("listAudit", {
      id: undefined,
      query: { ...query, limit: 1000, ...(next ? { after: next } : {}) },
      body: undefined,
    });
    if (!res.headersSent) res.writeHead(200, { "content-type": "application/x-ndjson; charset=utf-8" });
    const isRead = res.write(page.data.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    if (!isRead && !res.destroyed) await new Promise((resolve) => res.once("drain", resolve).once("close", resolve));
    next = page.next;
  } while (next !== null && !res.destroyed);
  res.end();
}
