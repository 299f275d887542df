import { expect } from "vitest";
import { testKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { exchange } from "./raw.ts";

/** What may stand where a good key should: title and header lines. KEY is a key of the server's own store. */
export const badAuthorizations: readonly (readonly [title: string, lines: readonly string[]])[] = [
  ["AUTH-01 nothing", []],
  ["AUTH-02 an unknown key", ["Authorization: Bearer parley_0123456789ab.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]],
  ["AUTH-02 a key of another service", ["Authorization: Bearer sk-0123456789abcdef0123456789abcdef"]],
  ["AUTH-02 a wrong secret under a known id", ["Authorization: Bearer WRONG"]],
  ["AUTH-02 the beginning of the key", [`Authorization: Bearer ${testKey.slice(0, -1)}`]],
  ["AUTH-02 more than the key", [`Authorization: Bearer ${testKey}x`]],
  ["AUTH-03 a disabled key", ["Authorization: Bearer DISABLED"]],
  ["AUTH-03 an expired key", ["Authorization: Bearer EXPIRED"]],
  ["AUTH-04 another scheme", [`Authorization: Basic ${Buffer.from(`a:${testKey}`).toString("base64")}`]],
  ["AUTH-04 a key without a scheme", [`Authorization: ${testKey}`]],
  ["AUTH-04 a scheme without a key", ["Authorization: Bearer"]],
  ["AUTH-04 a scheme with a blank", ["Authorization: Bearer "]],
  ["AUTH-04 two keys in one header", [`Authorization: Bearer ${testKey} ${testKey}`]],
  ["AUTH-04 keys in a list", [`Authorization: Bearer ${testKey}, Bearer ${testKey}`]],
  ["AUTH-04 quotes", [`Authorization: Bearer "${testKey}"`]],
  ["AUTH-04 an empty header", ["Authorization:"]],
  ["AUTH-04 bytes beyond ASCII", ["Authorization: Bearer \u00fc\u00fc\u00fc\u00fc"]],
  ["AUTH-04 another header", [`X-Api-Key: ${testKey}`]],
  ["AUTH-04 a header for proxies", [`Proxy-Authorization: Bearer ${testKey}`]],
  ["AUTH-04 a cookie", [`Cookie: authorization=Bearer%20${testKey}`]],
  ["AUTH-05 two headers", [`Authorization: Bearer ${testKey}`, "Authorization: Bearer other"]],
  ["AUTH-05 twice the same", [`Authorization: Bearer ${testKey}`, `authorization: Bearer ${testKey}`]],
];

/** Sends a request with these lines as they are. AUTH-08 AUTH-09 AUTH-10 LIM-03: the answer is the one 401 of all. */
export async function assertUnauthorized(
  server: TestServer,
  requestLine: string,
  lines: readonly string[],
  body = "",
): Promise<void> {
  const keys = await storedKeys(server);
  const sent = lines.map((line) => line.replace(/WRONG|DISABLED|EXPIRED/, (word) => keys[word] ?? word));
  const head = [`${requestLine} HTTP/1.1`, ...sent, `Content-Length: ${Buffer.byteLength(body)}`];
  const answer = await exchange(server.origin, Buffer.from([...head, "", body].join("\r\n"), "latin1"));
  expect(answer).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
  const { error } = JSON.parse(answer?.body ?? "") as { error: object };
  expect(error).toEqual({
    message: "Incorrect API key provided. Send a valid key as: Authorization: Bearer <API_KEY>.",
    type: "invalid_request_error",
    param: null,
    code: "invalid_api_key",
  });
  const told = JSON.stringify(answer);
  for (const part of sent.flatMap((line) => Array.from(line.matchAll(/[\w-]{12,}/g), String))) {
    if (part !== "Authorization") expect(told).not.toContain(part);
  }
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
