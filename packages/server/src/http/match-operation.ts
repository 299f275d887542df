import { ApiError } from "../errors/api-error.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { explainUrl } from "./explain-url.ts";

/** The operation of a request. */
export interface MatchedOperation {
  readonly id: string;
  /** The decoded parameters of its path. */
  readonly path: Readonly<Record<string, string>>;
  readonly hasBody: boolean;
}

/** Finds the operation by method and path. @throws {ApiError} 400, 404 `unknown_url`, 405 `method_not_allowed` */
export function matchOperation(method: string, path: string, url: string): MatchedOperation {
  for (const { pattern, operations } of routes) {
    const match = pattern.exec(path);
    if (!match) continue;
    const parameters = decode(match.groups);
    const operation = operations.get(method);
    if (!operation) throw methodNotAllowed(method, [...operations.keys()].join(", "));
    return { ...operation, path: parameters };
  }
  throw explainUrl(url);
}

interface Route {
  readonly pattern: RegExp;
  /** By method. */
  readonly operations: ReadonlyMap<string, Omit<MatchedOperation, "path">>;
}

const routes: readonly Route[] = Object.entries(contract.paths).map(([template, item]) => ({
  pattern: patternOf(template),
  operations: new Map(
    // A path item may also have parameters that its operations share.
    Object.entries(item).flatMap(([method, described]) =>
      "operationId" in described
        ? [[method.toUpperCase(), { id: described.operationId, hasBody: "requestBody" in described }] as const]
        : [],
    ),
  ),
}));

/**
 * Returns the pattern of a path. A parameter may contain a slash, because clients may send the slash of a model id
 * unencoded. No path ends with a slash.
 */
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

function methodNotAllowed(method: string, allow: string): ApiError {
  // The base URL of this client probably ends in /models.
  const hint = method === "POST" ? " Chat requests go to POST /v1/chat/completions." : "";
  return new ApiError("method_not_allowed", `${method} is not allowed here. Use ${allow}.${hint}`, { allow });
}
