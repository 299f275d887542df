import leven from "leven";
import { ApiError } from "../errors/api-error.ts";
import { isGeminiMethod, otherApiHint } from "./other-apis.ts";

const chatPath = "/v1/chat/completions";
const modelsPath = "/v1/models";
const known = `POST ${chatPath}, GET ${modelsPath}, GET ${modelsPath}/{model}, GET /v1/key and GET /v1/usage/{request_id}`;

/**
 * Only this many characters of a path are compared. The work grows with the square of the length, and anyone may send a
 * long path.
 */
const maxPathCharacters = 300;

/** The 404 for a path that serves nothing. The message names the URL that was meant, where there is one. */
export function explainUrl(url: string): ApiError {
  const [whole = ""] = url.split("?", 1);
  const path = whole.slice(0, maxPathCharacters);
  const segments = segmentsOf(path);
  const meant = operationMeant(segments);
  const hint = meant
    ? `${faultOf(path, segments, meant)}: use ${meant.method} ${shorten(meant.path)}.`
    : (otherApiHint(segments) ?? `This service has ${known}.`);
  return new ApiError("unknown_url", `Nothing is served at ${shorten(path)}. ${hint}`);
}

const shorten = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

/** The segments of a path, without what is often pasted along: blanks, punctuation, encoded slashes, a query. */
function segmentsOf(path: string): string[] {
  const [plain = ""] = decode(path).split(/[?#;&]/, 1);
  return plain
    .replace(/(?<=\/v\d+)(?=(?:chat|models)(?:\/|$))/i, "/") // a base URL and a path that were joined without a slash
    .split(/[/\\]+/)
    .map((segment) => segment.replaceAll(/^[\s"'`<>([{.,:]+|[\s"'`<>)\]}.,:]+$/g, ""))
    .map((segment) => segment.replace(/^(completions|models)[.:]\w+$/i, "$1"))
    .filter((segment) => segment !== "");
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The operation that a wrong path resembles. */
interface OperationMeant {
  readonly method: "GET" | "POST";
  /** The path to use. */
  readonly path: string;
  /** The segments in front of the operation's own, in small letters. */
  readonly prefix: readonly string[];
}

function operationMeant(segments: readonly string[]): OperationMeant | undefined {
  const small = segments.map((segment) => segment.toLowerCase());
  const chat = small.findLastIndex((segment, index) => segment === "completions" && small[index - 1] === "chat") - 1;
  if (chat >= 0 && chat + 2 === small.length) return { method: "POST", path: chatPath, prefix: small.slice(0, chat) };
  const own = small.findIndex((segment) => !isPrefix(segment));
  if (own < 0) return undefined;
  if (leven(small.slice(own).join("/"), "chat/completions") <= maxChatEdits)
    return { method: "POST", path: chatPath, prefix: small.slice(0, own) };
  // A base URL may end in /chat or /chat/completions, followed by `models`.
  const start = small.findIndex((segment) => !isPrefix(segment) && segment !== "chat" && segment !== "completions");
  if (start < 0) return undefined;
  const [first = "", ...rest] = small.slice(start);
  if (leven(first, "models") > maxModelsEdits || isGeminiMethod(rest.at(-1) ?? "")) return undefined;
  const path = encodeURI([modelsPath, ...segments.slice(start + 1)].join("/"));
  return { method: "GET", path, prefix: small.slice(0, start) };
}

/** `completions` alone is five edits away, and an API of its own. */
const maxChatEdits = 4;
const maxModelsEdits = 2;

/** Words in front of the paths of this contract, in other services and in wrong base URLs. Other words belong to other APIs. */
const isPrefix = (segment: string): boolean => /^(v\d[\w.]*|api|openai|oai|llm|proxy|inference)$/.test(segment);

/** Says what is wrong with a path, as the first half of a sentence. */
function faultOf(path: string, segments: readonly string[], { path: right, prefix }: OperationMeant): string {
  const written = `/${segments.join("/").toLowerCase()}`;
  const isRight = written === decode(right).toLowerCase();
  if (prefix.includes("completions")) return "The base URL must end with /v1, without /chat/completions";
  if (prefix.filter((segment) => segment === "v1").length > 1) return "The base URL ends with /v1 already";
  if (prefix.length === 0) return "The base URL must end with /v1";
  if (prefix.join("/") !== "v1") return "The base URL must be the address of this service, followed by /v1";
  if (isRight && /\/{2,}./.test(path)) return "The path has too many slashes";
  if (isRight && path.endsWith("/")) return "Leave out the slash at the end";
  if (isRight && path.length < right.length) return "The path lacks a slash";
  if (isRight && path.toLowerCase() === right.toLowerCase()) return "Write the path in small letters";
  return isRight ? "The path has characters that do not belong to it" : "The path is misspelt";
}
