import { ApiError } from "../errors/api-error.ts";
import type { Caller } from "./caller.ts";
import type { FindCaller } from "./find-caller.ts";

/** Where a request may have its key. */
interface RequestHead {
  /** Name and value in turn, as Node gives them. */
  readonly rawHeaders: readonly string[];
  readonly url?: string | undefined;
}

/**
 * Reads the Authorization headers of a request, all of them: two are as wrong as none.
 * @throws {ApiError} 401 `invalid_api_key`. All keys that are not accepted share one wording, so strangers learn nothing of
 * keys. A request without a bearer token hears that it has none.
 */
export async function authenticate(head: RequestHead, findCaller: FindCaller): Promise<Caller> {
  const values = head.rawHeaders.filter(
    (_text, index) => index % 2 === 1 && head.rawHeaders[index - 1]?.toLowerCase() === "authorization",
  );
  const [value = "", second] = values;
  const token = /^bearer[ ]+([!-~]+)$/i.exec(value.trim())?.[1];
  const caller = token === undefined || second !== undefined ? undefined : await findCaller(token);
  if (caller) return caller;
  const fault =
    second === undefined ? token === undefined && explainAbsence(value.trim(), head) : "more than one was sent";
  throw new ApiError("invalid_api_key", fault ? `${refused}: ${fault}. ${howToSend}` : `${refused}. ${howToSend}`);
}

/** LiteLLM takes any other wording for a bad request: it searches the message for these words. */
const refused = "Incorrect API key provided";
const howToSend = "Send one valid key in one header, as: Authorization: Bearer <API_KEY>.";

/** Says why a request has no bearer token. No text of the request may appear: it could be a part of a key. */
function explainAbsence(authorization: string, head: RequestHead): string {
  if (authorization === "") return explainNone(head);
  const [scheme = "", ...rest] = authorization.toLowerCase().split(/\s+/);
  if (scheme === "bearer") {
    if (rest.length === 0) return "none was sent after the word Bearer";
    return rest[0] === "bearer" ? "the word Bearer was sent twice" : "it has blanks, or letters beyond ASCII";
  }
  const known = otherSchemes.find((name) => name.toLowerCase() === scheme);
  if (known !== undefined && rest.length > 0)
    return `none was sent as a bearer token. The scheme ${known} is not supported`;
  return "it was sent without the word Bearer in front of it";
}

const otherSchemes = ["Basic", "Digest", "Token", "Key", "ApiKey", "Api-Key", "Negotiate", "OAuth", "AWS4-HMAC-SHA256"];

/** Says that no key was sent, and which habit of another service may be the reason. */
function explainNone({ rawHeaders, url = "" }: RequestHead): string {
  const names = new Set(rawHeaders.filter((_text, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  const header = otherHeaders.find((name) => names.has(name));
  if (header !== undefined) return `none was sent in the header Authorization. The header ${header} is not read`;
  const query = new URLSearchParams(url.slice(url.indexOf("?") + 1));
  if (otherParameters.some((name) => query.has(name)))
    return "none was sent in the header Authorization. A key in the URL is not read";
  return "none was sent";
}

/** Headers that other services read a key from, such as those of Azure, Anthropic and Google. */
const otherHeaders = ["x-api-key", "api-key", "apikey", "x-goog-api-key", "x-auth-token", "proxy-authorization"];
const otherParameters = ["api_key", "api-key", "apikey", "key", "access_token", "token", "authorization"];
