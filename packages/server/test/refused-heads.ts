import { expect, test } from "vitest";
import { testKey } from "@parley/server/testing";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { RawConnection, exchange, requestText } from "./raw.ts";
import type { RawAnswer } from "./raw.ts";
import { useServer } from "./use-server.ts";

/**
 * Tests of heads that every operation refuses. Each makes a server and takes the request line of an operation, such as
 * "GET /v1/key".
 */

const { maxHeaderBytes, maxHeaderFields, maxUrlCharacters } = contract["x-limits"];
const headers = { Authorization: `Bearer ${testKey}` };
const fields = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`A${index}`, ""]));

function assertRefused(answer: RawAnswer | undefined, status: number, code = "invalid_value"): void {
  expect(answer?.status).toBe(status);
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ error: { code, param: null } });
}

export function testBrokenHeads(line: string): void {
  const server = useServer();
  test.each([
    ["a header without a colon", `${line} HTTP/1.1\r\nHost\r\n\r\n`],
    ["a header with a control character", requestText(line, { A: "\u0001" })],
  ])("HTTP-22 %s is not an HTTP request", async (_title, bytes) => {
    assertRefused(await exchange(server().origin, bytes), 400);
  });
}

export function testWrongMethods(paths: readonly string[], allowed: string, methods: readonly string[]): void {
  const server = useServer();
  test.each(methods)("HTTP-02 HTTP-03 HTTP-04 %s is answered with the methods that there are", async (method) => {
    for (const path of paths) {
      const answer = await exchange(server().origin, requestText(`${method} ${path}`, headers));
      expect(answer).toMatchObject({ status: 405, headers: { allow: allowed } });
      if (method !== "HEAD") expect(answer?.body).toContain('"method_not_allowed"');
    }
  });
}

export function testSlowHeads(line: string): void {
  const server = useServer({ settings: { headTimeoutMs: 150 } });
  test("HTTP-20 LIM-02 a head that never ends is given up", async () => {
    using connection = await RawConnection.open(server().origin);
    connection.send(`${line} HTTP/1.1\r\nHost: x\r\n`);
    const answer = await connection.read(...(line.split(" ") as [string, string])); // a method and a path
    assertRefused(answer, 408, "request_timeout");
    expect(answer?.headers["connection"]).toBe("close");
  });
}

export function testLongUrls(line: string): void {
  const server = useServer();
  const [method, path = ""] = line.split(" ");
  const ask = (characters: number): Promise<RawAnswer | undefined> =>
    exchange(server().origin, requestText(`${method} ${`${path}?`.padEnd(characters, "x")}`, headers));
  test("HTTP-22 a URL that is longer than the contract allows is refused", async () => {
    assertRefused(await ask(maxUrlCharacters.value + 1), 414);
  });
  test("HTTP-22 a URL of exactly that length is read", async () => {
    expect((await ask(maxUrlCharacters.value))?.status).not.toBe(414);
  });
}

export function testExpectations(line: string): void {
  const server = useServer();
  test("AUTH-13 an expectation other than 100-continue is refused, once the key is known", async () => {
    const answer = await exchange(server().origin, requestText(line, { ...headers, Expect: "miracles" }));
    assertRefused(answer, 417);
    expect(answer?.headers["x-ratelimit-limit-requests"]).toBe("10000");
  });
}

export function testHugeHeaders(line: string): void {
  const server = useServer();
  test.each([
    ["more bytes of headers than the contract allows", { ...headers, A: "x".repeat(maxHeaderBytes.value) }],
    ["more header fields than the contract allows", fields(maxHeaderFields.value + 1)],
  ])("HTTP-22 %s are refused", async (_title, many) => {
    assertRefused(await exchange(server().origin, requestText(line, many)), 431);
  });
  test("HTTP-22 as many header fields as the contract allows are read", async () => {
    // Host, Connection and the key are fields, too.
    const many = { ...headers, ...fields(maxHeaderFields.value - 3) };
    expect((await exchange(server().origin, requestText(line, many)))?.status).not.toBe(431);
  });
}
