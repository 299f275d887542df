import type { ServerResponse } from "node:http";
import { pathOf } from "../edge/stage.ts";
import type { Stage } from "../edge/stage.ts";
import { ApiError } from "../errors/api-error.ts";
import contract from "../generated/contract.json" with { type: "json" };
import { explainUrl } from "./explain-url.ts";

/** The operation that a request is for, and the parameters of its path, decoded. */
export interface MatchedOperation {
  readonly id: string;
  readonly path: Readonly<Record<string, string>>;
}

const matches = new WeakMap<ServerResponse, MatchedOperation>();

/** The operation of a response whose request has been matched. */
export function operationOf(response: ServerResponse): MatchedOperation {
  const match = matches.get(response);
  if (!match) throw new Error("a stage ran before the operation was matched");
  return match;
}

/** Finds the operation by method and path. @throws {ApiError} 404 `unknown_url`, 405 `method_not_allowed` */
export const matchOperation: Stage = function matchOperation(req, res) {
  const { method = "", url = "" } = req;
  const path = pathOf(req);
  for (const { pattern, operations } of routes) {
    const match = pattern.exec(path);
    if (!match) continue;
    const parameters = decode(match.groups);
    const id = operations.get(method);
    if (id === undefined) throw methodNotAllowed(method, [...operations.keys()].join(", "));
    matches.set(res, { id, path: parameters });
    return;
  }
  throw explainUrl(url);
};

interface Route {
  readonly pattern: RegExp;
  /** Ids by method. */
  readonly operations: ReadonlyMap<string, string>;
}

const routes: readonly Route[] = Object.entries(contract.paths).map(([template, item]) => ({
  pattern: patternOf(template),
  operations: new Map(
    // A path also holds parameters that its operations share.
    Object.entries(item).flatMap(([method, described]) =>
      "operationId" in described ? [[method.toUpperCase(), described.operationId]] : [],
    ),
  ),
}));

/** A model id holds a slash, which callers send raw or encoded. A slash at the end belongs to no path. */
function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, "(?<$1>.*[^/])")}$`);
}

function decode(groups: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch (error) {
    throw new ApiError("invalid_value", "The path has a broken percent-encoding.", { cause: error });
  }
}

const methodNotAllowed = (method: string, allow: string): ApiError =>
  new ApiError("method_not_allowed", `${method} is not allowed here. Use ${allow}.`, { allow });
