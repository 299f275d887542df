import type { IncomingMessage, ServerResponse } from "node:http";
import admin from "@parley/contract/admin.json" with { type: "json" };
import { LostAnswerError } from "../accounts/manage/managed-state.ts";
import { ManageError } from "../accounts/manage/manage-error.ts";
import { suggest } from "../config/suggest.ts";
import { sendJson } from "../http/send-json.ts";

/** The seconds after which a client may try again while the database is away, as on the public port. */
const retryAfterSeconds = 2;

/** Answers with the error envelope of the admin API. */
export function sendError(res: ServerResponse, requestId: string, error: ManageError): void {
  if (error.code === "invalid_admin_key") res.setHeader("www-authenticate", "Bearer");
  if (error.code === "service_unavailable") res.setHeader("retry-after", retryAfterSeconds);
  sendJson(res, admin["x-error-catalog"][error.code].status, errorBody(error, requestId));
}

/** The codes of sockets, and of a PostgreSQL that is away, starting, stopping, full of connections, or a standby. */
const awayCode = /^(?:E[A-Z]+|08\d{3}|53\d{3}|57P0\d|25006)$/;

/** The codes of a SQLite that is locked (5, 6), read-only (8), cannot read or write (10), is full (13) or cannot be opened (14). */
const awaySqliteCodes = new Set([5, 6, 8, 10, 13, 14]);

const isStoreAway = (error: unknown): boolean =>
  error instanceof Error &&
  (awayCode.test("code" in error ? String(error.code) : "") ||
    // An extended code has the code in its lowest byte.
    ("errcode" in error && awaySqliteCodes.has(Number(error.errcode) & 0xff)) ||
    /timeout|connection terminated|not queryable/i.test(error.message));

/** Returns the refusal that a fault of this server means: 503 if its database is away, 500 otherwise. */
export function explainFault(error: unknown): ManageError {
  if (error instanceof LostAnswerError) return new ManageError("service_unavailable", error.message);
  return isStoreAway(error)
    ? new ManageError(
        "service_unavailable",
        "The database cannot be used at the moment, so the request was not carried out. Try again later.",
      )
    : new ManageError(
        "internal_error",
        "Something went wrong on our side. Try again; if it persists, name the request id to support.",
      );
}

export const errorBody = ({ code, message, param }: ManageError, requestId: string): object => ({
  error: { message, type: admin["x-error-catalog"][code].type, param, code },
  request_id: requestId,
});

/** An error of express-openapi-validator, as far as it is read here. */
interface ValidatorError {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors?: readonly { readonly path: string; readonly message: string; readonly errorCode?: string }[];
}

const isValidatorError = (error: unknown): error is ValidatorError =>
  typeof error === "object" && error !== null && "status" in error && typeof error.status === "number";

/** Returns the refusal that an error of Express or its validator means; undefined for a fault of this server. */
export function explainError(error: unknown, req: IncomingMessage, res: ServerResponse): ManageError | undefined {
  if (error instanceof ManageError) return error;
  if (!isValidatorError(error)) return undefined;
  if (error.status === 404) return new ManageError("not_found", `There is no path ${pathOf(req)}.`);
  if (error.status === 405) return refuseMethod(req, res);
  const isEmpty = "body" in req && req.body === undefined;
  if (isEmpty && (error.status === 415 || /'body'/.test(error.errors?.[0]?.message ?? "")))
    return new ManageError("invalid_json", "The body is missing. Send a JSON object.");
  if (error.status === 415)
    return new ManageError("unsupported_media_type", "Send the body with Content-Type: application/json.");
  if (error.status !== 400) return undefined;
  const [first] = error.errors ?? [];
  return first && !/malformed uri/i.test(first.message)
    ? explainMember(first, req)
    : new ManageError("malformed_request", "The path is not valid.");
}

const pathOf = (req: IncomingMessage): string => (req.url ?? "").split("?")[0]?.slice(0, 200) ?? "";

function refuseMethod(req: IncomingMessage, res: ServerResponse): ManageError {
  const template = Object.entries(admin.paths).find(([path]) =>
    new RegExp(`^${path.replace("{id}", "[^/]+")}$`).test(pathOf(req)),
  );
  const methods = Object.keys(template?.[1] ?? {}).map((method) => method.toUpperCase());
  res.setHeader("allow", methods.join(", "));
  return new ManageError("method_not_allowed", `This path has ${methods.join(" and ")}.`);
}

/** A part of the pattern that texts have in the contract. */
const textWithoutControls = String.raw`[^\x00-\x1f`;

/** Says which member or parameter is at fault, and for an unknown one, which was meant. */
function explainMember(fault: NonNullable<ValidatorError["errors"]>[number], req: IncomingMessage): ManageError {
  const { path, errorCode = "" } = fault;
  // The validator writes null as nothing in "one of the allowed values: day, week, month, ".
  const message = fault.message.replace(/,null$|, $/, " or null");
  const [, place = "", ...rest] = path.split("/");
  const param = rest.length > 0 ? rest.join(".") : null;
  if (errorCode.startsWith("additionalProperties") && param !== null)
    return new ManageError(
      "unknown_parameter",
      `There is no member ${param.slice(0, 200)}.${meant(rest, req)}`,
      param.slice(0, 200),
    );
  if (message.startsWith("Unknown query parameter")) {
    const name = (param ?? /'([^']*)'/.exec(message)?.[1] ?? "").slice(0, 200);
    return new ManageError("unknown_parameter", `There is no query parameter ${name}.`, name);
  }
  if (errorCode.startsWith("required") && param !== null)
    return new ManageError("missing_required_parameter", `${param} is required.`, param);
  if (param !== null && message.includes(textWithoutControls))
    return new ManageError(
      "invalid_value",
      `${param} must not have control characters or halves of surrogate pairs.`,
      param,
    );
  if (param === null)
    return new ManageError("invalid_value", place === "body" ? `The body ${message}.` : `${message}.`);
  return new ManageError("invalid_value", `${param} ${message.replace(/\.$/, "")}.`, param);
}

interface BodySchema {
  readonly properties?: Readonly<Record<string, object>>;
}

/** Returns the sentence with the known member that is nearest to an unknown one. */
function meant(names: readonly string[], req: IncomingMessage): string {
  const isGroup = /\/groups/.test(pathOf(req));
  const all = admin.components.schemas;
  const inner = names[0] === "budget_raise" ? all.NewBudgetRaise : all.KeyCeilingRules;
  const group = req.method === "PATCH" ? all.GroupUpdate : all.GroupCreate;
  const schema: BodySchema = names.length > 1 ? inner : isGroup ? group : bodyOf(req);
  const near = suggest(names.at(-1) ?? "", Object.keys(schema.properties ?? {}));
  return near === undefined ? "" : ` Did you mean ${near}?`;
}

function bodyOf(req: IncomingMessage): BodySchema {
  const { schemas } = admin.components;
  const path = pathOf(req);
  if (path.endsWith("/rotate")) return schemas.KeyRotate;
  if (path.endsWith("/prune")) return schemas.AuditPrune;
  if (req.method === "PATCH") return schemas.KeyUpdate;
  return path.includes("/admin-keys") ? schemas.AdminKeyCreate : schemas.KeyCreate;
}
