import { ApiError } from "../../errors/api-error.ts";
import type { Caller } from "./caller.ts";

/** The parts of a request that may contain a key. */
interface RequestHead {
  /** Names and values in turn, as Node provides them. */
  readonly rawHeaders: readonly string[];
  readonly url?: string | undefined;
}

/**
 * Finds the caller by the Authorization header. A request with two such headers is refused.
 * @throws {ApiError} 401 `invalid_api_key`. All rejected keys get the same message, so strangers learn nothing about keys.
 * A request without a bearer token is told so.
 */
export async function authenticate(
  head: RequestHead,
  findCaller: (token: string) => Promise<Caller | undefined>,
): Promise<Caller> {
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

/**
 * Returns the refusal of a signed token. The message is that of every token; `details.token_fault` has the fault.
 * @param fault completes the sentence "The token is refused: …", and quotes nothing of the token
 */
export const refusedToken = (fault: string): ApiError =>
  new ApiError("invalid_api_key", `${refused}. ${howToSend}`, {
    details: { token_fault: `The token is refused: ${fault}.` },
  });

/** LiteLLM searches the message for these words. Without them it reports a bad request. */
const refused = "Incorrect API key provided";
const howToSend = "Send one valid key in one header, as: Authorization: Bearer <API_KEY>.";

/**
 * Returns the reason why a request has no bearer token. It never quotes the request, which could contain a part of a key.
 */
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

/** Returns that no key was sent, and names a header or parameter of other services if the key may be there. */
function explainNone({ rawHeaders, url = "" }: RequestHead): string {
  const header = rawHeaders.find((name, index) => index % 2 === 0 && isOtherName(name));
  if (header !== undefined)
    return `none was sent in the header Authorization. The header ${header.toLowerCase()} is not read`;
  const names = [...new URLSearchParams(url.slice(url.indexOf("?") + 1)).keys()];
  if (names.some((name) => isOtherName(name) || /^(?:key|token|auth|authorization)$/i.test(name)))
    return "none was sent in the header Authorization. A key in the URL is not read";
  return "none was sent";
}

/**
 * Recognises the names of headers and parameters from which other services, such as those of Azure, Anthropic and Google, read
 * a key, and names that resemble `Authorization`. The message quotes the header's name, so nothing but these words may match.
 */
function isOtherName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[-_]/g, "");
  return (
    plain !== "authorization" &&
    /^x?(?:goog|proxy|forwarded|openai|parley)?(?:(?:api|access|auth|secret|subscription)(?:key|token)|authentication|authori[sz]ation)$/.test(
      plain,
    )
  );
}
