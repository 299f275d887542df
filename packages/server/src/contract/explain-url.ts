import { ApiError } from "../errors/api-error.ts";

const known = "POST /v1/chat/completions, GET /v1/models and GET /v1/models/{model}";

/** The 404 for a path that serves nothing. For a near miss the message says what to change. */
export function explainUrl(url: string): ApiError {
  const [path = ""] = url.split("?", 1);
  const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path;
  return new ApiError("unknown_url", `Nothing is served at ${shown}. ${hintFor(path)}`);
}

function hintFor(path: string): string {
  const repeated = path.replace(/^(\/v1)+(?=\/)/, "/v1");
  if (repeated !== path) return `The base URL ends with /v1 already: use ${repeated}.`;
  if (/^\/(chat\/completions|models(\/.*)?)\/?$/.test(path))
    return `The base URL must end with /v1: use /v1${path.replace(/\/$/, "")}.`;
  if (path.endsWith("/") && path.startsWith("/v1/"))
    return `Leave out the slash at the end: ${path.replace(/\/+$/, "")}.`;
  if (/^(\/v1)?\/(completions|responses|messages|chat)$/.test(path))
    return "Send chat requests to POST /v1/chat/completions.";
  return `This service has ${known}.`;
}
