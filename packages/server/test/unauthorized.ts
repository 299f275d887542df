import { expect } from "vitest";
import { testKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { exchange } from "./raw.ts";

/** The message for every key that is not accepted. */
const notAccepted = "Incorrect API key provided.";
export const noneSent = "Incorrect API key provided: none was sent.";
export const keyInUrl =
  "Incorrect API key provided: none was sent in the header Authorization. A key in the URL is not read.";
const noBearer = "Incorrect API key provided: it was sent without the word Bearer in front of it.";
const inHeader = (name: string): string =>
  `Incorrect API key provided: none was sent in the header Authorization. The header ${name} is not read.`;
const scheme = (name: string): string =>
  `Incorrect API key provided: none was sent as a bearer token. The scheme ${name} is not supported.`;
const malformed = "Incorrect API key provided: it has blanks, or letters beyond ASCII.";
const several = "Incorrect API key provided: more than one was sent.";
const empty = "Incorrect API key provided: none was sent after the word Bearer.";
const basic = `Basic ${Buffer.from(`a:${testKey}`).toString("base64")}`;

type BadAuthorization = readonly [title: string, lines: readonly string[], says: string];

/**
 * Requests without a valid key: title, header lines, and the beginning of the message. KEY stands for a key of the server's
 * store.
 */
export const badAuthorizations: readonly BadAuthorization[] = [
  ["AUTH-01 AUTH-15 nothing", [], noneSent],
  [
    "AUTH-02 an unknown key",
    ["Authorization: Bearer parley_0123456789ab.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"],
    notAccepted,
  ],
  ["AUTH-02 a key of another service", ["Authorization: Bearer sk-0123456789abcdef0123456789abcdef"], notAccepted],
  ["AUTH-02 a wrong secret under a known id", ["Authorization: Bearer WRONG"], notAccepted],
  ["AUTH-02 the beginning of the key", [`Authorization: Bearer ${testKey.slice(0, -1)}`], notAccepted],
  ["AUTH-02 more than the key", [`Authorization: Bearer ${testKey}x`], notAccepted],
  ["AUTH-03 a disabled key", ["Authorization: Bearer DISABLED"], notAccepted],
  ["AUTH-03 an expired key", ["Authorization: Bearer EXPIRED"], notAccepted],
  ["AUTH-04 AUTH-15 another scheme", [`Authorization: ${basic}`], scheme("Basic")],
  ["AUTH-04 AUTH-15 another scheme, in small letters", [`Authorization: token ${testKey}`], scheme("Token")],
  ["AUTH-04 AUTH-15 a scheme that nobody knows", [`Authorization: ${testKey} ${testKey}`], noBearer],
  ["AUTH-04 AUTH-15 a key without a scheme", [`Authorization: ${testKey}`], noBearer],
  ["AUTH-04 AUTH-15 a key named like a scheme", ["Authorization: Basic"], noBearer],
  ["AUTH-04 AUTH-15 a scheme without a key", ["Authorization: Bearer"], empty],
  ["AUTH-04 AUTH-15 a scheme with a blank", ["Authorization: Bearer "], empty],
  ["AUTH-04 AUTH-15 two keys in one header", [`Authorization: Bearer ${testKey} ${testKey}`], malformed],
  ["AUTH-04 AUTH-15 keys in a list", [`Authorization: Bearer ${testKey}, Bearer ${testKey}`], malformed],
  [
    "AUTH-04 AUTH-15 the scheme twice",
    [`Authorization: Bearer bearer ${testKey}`],
    "Incorrect API key provided: the word Bearer was sent twice.",
  ],
  ["AUTH-04 quotes", [`Authorization: Bearer "${testKey}"`], notAccepted],
  ["AUTH-04 AUTH-15 an empty header", ["Authorization:"], noneSent],
  ["AUTH-04 AUTH-15 bytes beyond ASCII", ["Authorization: Bearer \u00fc\u00fc\u00fc\u00fc"], malformed],
  ["AUTH-04 AUTH-15 the header of Anthropic", [`X-Api-Key: ${testKey}`], inHeader("x-api-key")],
  ["AUTH-04 AUTH-15 the header of Azure", [`api-key: ${testKey}`], inHeader("api-key")],
  ["AUTH-04 AUTH-15 the header of Google", [`x-goog-api-key: ${testKey}`], inHeader("x-goog-api-key")],
  ["AUTH-04 AUTH-15 a header for proxies", [`Proxy-Authorization: Bearer ${testKey}`], inHeader("proxy-authorization")],
  ["AUTH-04 AUTH-15 a header with underscores", [`Api_Key: ${testKey}`], inHeader("api_key")],
  ["AUTH-04 AUTH-15 a header of gateways", [`X-Authorization: Bearer ${testKey}`], inHeader("x-authorization")],
  ["AUTH-04 AUTH-15 a misspelt header", [`Authorisation: Bearer ${testKey}`], inHeader("authorisation")],
  ["AUTH-04 AUTH-15 another misspelt header", [`Authentication: Bearer ${testKey}`], inHeader("authentication")],
  ["AUTH-04 AUTH-15 a header of our own name", [`X-Parley-Api-Key: ${testKey}`], inHeader("x-parley-api-key")],
  ["AUTH-04 headers that hold keys of another kind", ["Idempotency-Key: a", "X-CSRF-Token: b"], noneSent],
  ["AUTH-04 a cookie", [`Cookie: authorization=Bearer%20${testKey}`], noneSent],
  ["AUTH-05 AUTH-15 two headers", [`Authorization: Bearer ${testKey}`, "Authorization: Bearer other"], several],
  ["AUTH-05 AUTH-15 twice the same", [`Authorization: Bearer ${testKey}`, `authorization: Bearer ${testKey}`], several],
];

/** Sends a request with exactly these header lines. Asserts a 401 with this message (AUTH-08 AUTH-09 AUTH-10 LIM-03). */
export async function assertUnauthorized(
  server: TestServer,
  requestLine: string,
  lines: readonly string[],
  says: string,
  body = "",
): Promise<void> {
  const keys = await storedKeys(server);
  const sent = lines.map((line) => line.replace(/WRONG|DISABLED|EXPIRED/, (word) => keys[word] ?? word));
  const head = [`${requestLine} HTTP/1.1`, ...sent, `Content-Length: ${Buffer.byteLength(body)}`];
  const answer = await exchange(server.origin, Buffer.from([...head, "", body].join("\r\n"), "latin1"));
  expect(answer).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
  const { error } = JSON.parse(answer?.body ?? "") as { error: object };
  expect(error).toEqual({
    message: `${says} Send one valid key in one header, as: Authorization: Bearer <API_KEY>.`,
    type: "invalid_request_error",
    param: null,
    code: "invalid_api_key",
  });
  const told = JSON.stringify(answer);
  for (const part of sent.flatMap((line) => Array.from(line.replace(/^[^:]*:/, "").matchAll(/[\w-]{12,}/g), String)))
    expect(told).not.toContain(part);
}

async function storedKeys(server: TestServer): Promise<Readonly<Record<string, string>>> {
  const disabled = await server.makeKey();
  await server.running.keys.disable(disabled.slice("parley_".length, disabled.indexOf(".")), Date.now());
  return {
    WRONG: `${(await server.makeKey()).slice(0, -3)}AAA`,
    DISABLED: disabled,
    EXPIRED: await server.makeKey({ expiresMs: Date.now() - 1 }),
  };
}
