import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";

/** The portal over HTTP, as the server sends it. */

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

/** Requests a path and returns the body as it was sent. `fetch` would decompress it. */
async function ask(
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ answer: IncomingMessage; body: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(server.origin + path, { headers }, resolve).on("error", reject);
  const answer = await promise;
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer); // a stream of bytes
  return { answer, body: Buffer.concat(parts) };
}

test.each([
  ["/docs", "text/html"],
  ["/docs/guides", "text/html"],
  ["/docs/guides/reading-streams", "text/html"],
  ["/docs/guides/programs/oapi-codegen", "text/html"],
  ["/docs/errors", "text/html"],
  ["/docs/errors/invalid_value", "text/html"],
  ["/docs/clauses/STRM-04", "text/html"],
  ["/docs/clauses/STRM-04.md", "text/markdown"],
  ["/llms.txt", "text/plain"],
  ["/openapi.json", "application/json"],
  ["/openapi.yaml", "application/yaml"],
  ["/openapi-3.0.json", "application/json"],
  ["/openapi-3.0.yaml", "application/yaml"],
  ["/openapi-3.2.json", "application/json"],
  ["/openapi-3.2.yaml", "application/yaml"],
  ["/streams.json", "application/json"],
  ["/workflows.arazzo.yaml", "application/yaml"],
  ["/parley.http", "text/plain"],
  ["/schemathesis.toml", "text/plain"],
  ["/parley.postman_collection.json", "application/json"],
])("%s is served without a key", async (path, type) => {
  const { answer } = await ask(path);
  expect([answer.statusCode, answer.headers["content-type"]]).toEqual([200, expect.stringContaining(type)]);
});

test.each(["/docs", "/docs/clauses/STRM-04", "/openapi.json"])(
  "%s is not sent again if it has not changed",
  async (path) => {
    const { etag = "" } = (await ask(path)).answer.headers;
    const { answer, body } = await ask(path, { "if-none-match": etag });
    expect([etag, answer.statusCode, body.length]).toEqual([expect.stringMatching(/^W\/"/), 304, 0]);
  },
);

test("a page is compressed as the client asks for it", async () => {
  const plain = await ask("/docs");
  const br = await ask("/docs", { "accept-encoding": "gzip, br" });
  const gzip = await ask("/docs", { "accept-encoding": "gzip, br;q=0" });
  expect([plain, br, gzip].map(({ answer }) => answer.headers["content-encoding"])).toEqual([undefined, "br", "gzip"]);
  expect(brotliDecompressSync(br.body)).toEqual(plain.body);
  expect(gunzipSync(gzip.body)).toEqual(plain.body);
  expect(br.answer.headers["vary"]).toContain("accept-encoding");
});

test("the policy of a page allows files of this server only", async () => {
  const policy = (await ask("/docs")).answer.headers["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
});

test("scripts and fonts are kept by browsers for good, pages are checked each time", async () => {
  const page = await ask("/docs");
  const script = /src="([^"]+main-[^"]+)"/.exec(page.body.toString())?.[1] ?? "";
  const { answer } = await ask(script);
  expect(answer.headers["cache-control"]).toContain("immutable");
  expect(page.answer.headers["cache-control"]).toBe("no-cache");
});

test.each([
  ["text/markdown", "text/markdown"],
  ["text/markdown, text/html;q=0.9", "text/markdown"],
  ["text/html, text/markdown;q=0.5", "text/html"],
  ["text/html,application/xhtml+xml,*/*;q=0.8", "text/html"],
  ["*/*", "text/html"],
])("Accept: %s gets %s", async (accept, type) => {
  const { answer } = await ask("/docs/guides/streaming", { accept });
  expect(answer.headers["content-type"]).toContain(type);
});

test.each([
  ["/", "/docs"],
  ["/docs/", "/docs"],
  ["/docs/errors/", "/docs/errors"],
  ["/docs/errors/invalid_value.html", "/docs/errors/invalid_value"],
])("%s redirects to %s", async (path, target) => {
  const { answer } = await ask(path);
  expect([answer.statusCode, answer.headers.location]).toEqual([302, target]);
});

test("the Link header of an error leads to its page", async () => {
  const response = await fetch(`${server.baseUrl}/models`);
  const target = /<([^>]+)>; rel="help"/.exec(response.headers.get("link") ?? "")?.[1] ?? "";
  const { answer, body } = await ask(target);
  expect([answer.statusCode, body.toString().replaceAll("<wbr>", "")]).toEqual([
    200,
    expect.stringContaining("<h1><code>invalid_api_key</code></h1>"),
  ]);
});

test("HEAD has the headers of GET and no body", async () => {
  const response = await fetch(`${server.origin}/docs`, { method: "HEAD" });
  expect([response.status, Number(response.headers.get("content-length")) > 1000, await response.text()]).toEqual([
    200,
    true,
    "",
  ]);
});

const browserAccept = "text/html,application/xhtml+xml,*/*;q=0.8";

describe("a page that does not exist", () => {
  test.each([
    ["/docs/guides/stremaing", "Nearest: /docs/guides/streaming"],
    ["/docs/quickstart", "Nearest: /docs/guides/quick-start"],
    ["/docs/errors/Invalid-Value.html", "Nearest: /docs/errors/invalid_value"],
    ["/docs/clauses/STRM-99", "Nearest: /docs/clauses/STRM-09"],
    ["/docs/zzzzzzzzzzzz", ""],
  ])("%s is an HTML page for browsers", async (path, nearest) => {
    const { answer, body } = await ask(path, { accept: browserAccept });
    expect([answer.statusCode, answer.headers["content-type"], answer.headers.etag]).toEqual([
      404,
      "text/html; charset=utf-8",
      undefined,
    ]);
    const html = body.toString();
    expect(html).toContain("<h1>This page does not exist</h1>");
    const first = /<h2>Nearest pages<\/h2><ul><li><a href="([^"]+)">[^<]+/.exec(html)?.[1];
    expect(first === undefined ? "" : `Nearest: ${first}`).toBe(nearest);
  });

  test("is the envelope of errors for other clients, and names the nearest page", async () => {
    for (const accept of ["*/*", "application/json", "text/markdown"]) {
      const { answer, body } = await ask("/docs/guides/stremaing", { accept });
      expect([answer.statusCode, JSON.parse(body.toString())]).toMatchObject([
        404,
        { error: { code: "unknown_url", message: expect.stringContaining("is /docs/guides/streaming.") } },
      ]);
    }
  });

  test("is the envelope of errors for browsers outside of /docs, too", async () => {
    for (const path of ["/nothing", "/404"]) {
      const { answer, body } = await ask(path, { accept: browserAccept });
      expect([answer.statusCode, JSON.parse(body.toString())]).toMatchObject([404, { error: { code: "unknown_url" } }]);
    }
  });
});

/** Starts a server with names of its own. They are put into a copy of the site, which every start makes. */
const startAcme = () => startTestServer({ settings: { vendor: "acme", vendorLabel: "Acme Labs" } });

const getGuide = ({ origin }: TestServer, accept: string) =>
  fetch(`${origin}/docs/guides/streaming`, { headers: { accept } });

test("a browser is told to come again while the site is built, and other clients wait", async () => {
  await using starting = await startAcme();
  const [browser, program] = await Promise.all([getGuide(starting, browserAccept), getGuide(starting, "*/*")]);
  expect([browser.status, browser.headers.get("retry-after"), await browser.text()]).toEqual([
    503,
    "1",
    expect.stringContaining('<meta http-equiv="refresh" content="1;url=/docs/guides/streaming">'),
  ]);
  const again = await getGuide(starting, browserAccept);
  for (const { status, page } of [
    { status: program.status, page: await program.text() },
    { status: again.status, page: await again.text() },
  ])
    expect([status, page]).toEqual([200, expect.stringContaining("acme/model-1")]);
});

test("a browser is not told to come again for ever if the site cannot be built", async () => {
  await using starting = await startAcme();
  const runFolder = readFileSync(join(starting.dataDir, "run-folder"), "utf8").trim();
  const obstacle = join(runFolder, "site");
  writeFileSync(obstacle, "This file stands where the copy belongs.");
  const program = await getGuide(starting, "*/*");
  const browser = await getGuide(starting, browserAccept);
  expect([program.status, browser.status]).toEqual([500, 500]);
  rmSync(obstacle);
  expect((await getGuide(starting, browserAccept)).status).toBe(200);
});
