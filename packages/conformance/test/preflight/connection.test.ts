import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { sentenceOf } from "./run-preflight.ts";
import { certificateFor, issuer, soundReply, startHttp, startTcp, startTls } from "./stub-service.ts";
import type { Certificate, Stub } from "./stub-service.ts";

const sound = soundReply(["m"]);
const here = ["localhost", "127.0.0.1"];

let authority: Certificate;
let valid: Certificate;
beforeAll(async () => {
  authority = await issuer();
  valid = await certificateFor(here, -1, 1);
});

const https = ({ port }: Stub, host = "127.0.0.1"): string => `https://${host}:${port}/v1`;
const http = ({ port }: Stub): string => `http://127.0.0.1:${port}/v1`;

describe("a certificate that", () => {
  const rows: readonly (readonly [
    title: string,
    make: () => Promise<Certificate>,
    isNamed: boolean,
    sentence: RegExp,
  ])[] = [
    [
      "has expired",
      () => certificateFor(here, -9, -1),
      true,
      /certificate of 127\.0\.0\.1:\d+ has expired: renew it \(--ca does not help/,
    ],
    ["is not valid yet", () => certificateFor(here, 2, 9), true, /is not valid yet: check the clocks/],
    ["is self-signed", () => certificateFor(here, -1, 1), false, /is self-signed: name it with --ca FILE/],
    [
      "is for another host",
      () => certificateFor(["api.example.com", "*.example.org"], -1, 1),
      true,
      /is for api\.example\.com, \*\.example\.org, not for 127\.0\.0\.1: write that name/,
    ],
    [
      "comes from an unknown authority",
      () => certificateFor(here, -1, 1, authority),
      false,
      /authority that this machine does not know.*--ca FILE/,
    ],
  ];
  test.each(rows)("%s is refused with the reason", async (_title, make, isNamed, sentence) => {
    const certificate = await make();
    await using stub = await startTls(sound, certificate);
    expect(await sentenceOf(https(stub), isNamed ? { ca: certificate.cert } : {})).toMatch(sentence);
    expect(stub.requests).toEqual([]);
  });

  test.each(here)("is named with --ca is trusted, for %s, without a warning", async (host) => {
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.message);
    process.on("warning", note);
    await using stub = await startTls(sound, valid);
    expect(await sentenceOf(https(stub, host), { ca: valid.cert })).toBeUndefined();
    await using signed = await startTls(sound, await certificateFor(here, -1, 1, authority));
    expect(await sentenceOf(https(signed, host), { ca: authority.cert })).toBeUndefined();
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });
});

describe("TLS and plain HTTP are told apart:", () => {
  test("https:// and a port of plain HTTP", async () => {
    await using stub = await startHttp(sound);
    expect(await sentenceOf(https(stub))).toMatch(
      /does not speak TLS, and --base-url begins with https:\/\/: write http:\/\/127/,
    );
  });

  test("http:// and a port of TLS", async () => {
    await using stub = await startTls(sound, valid);
    expect(await sentenceOf(http(stub))).toMatch(
      /speaks TLS, and --base-url begins with http:\/\/: write https:\/\/127/,
    );
  });

  test("http:// and a TLS port that answers with 400, as nginx does", async () => {
    await using stub = await startHttp((_request, response) => {
      response.writeHead(400, { "Content-Type": "text/html" });
      response.end("<html><h1>400</h1>The plain HTTP request was sent to HTTPS port</html>");
    });
    expect(await sentenceOf(http(stub))).toMatch(/speaks TLS/);
  });

  test("http:// and a port that answers with a TLS alert", async () => {
    await using stub = await startTcp((socket) => socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, 70])));
    expect(await sentenceOf(http(stub))).toMatch(/speaks TLS/);
  });

  test("a server that wants a certificate of the client", async () => {
    await using stub = await startTls(sound, valid, { requestCert: true, ca: authority.cert });
    expect(await sentenceOf(https(stub), { ca: valid.cert })).toMatch(/may ask for a client certificate/);
  });

  test("a server without a version of TLS in use", async () => {
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" };
    await using stub = await startTls(sound, valid, old);
    expect(await sentenceOf(https(stub), { ca: valid.cert })).toMatch(/offers no version of TLS from 1\.2 on/);
  });
});

describe("a port of", () => {
  const rows: readonly (readonly [title: string, greet: Parameters<typeof startTcp>[0], sentence: RegExp])[] = [
    ["SSH", (socket) => socket.write("SSH-2.0-OpenSSH_9.6\r\n"), /is the port of an SSH server/],
    [
      "SMTP",
      (socket) => socket.write("220 mail.example ESMTP\r\n"),
      /does not answer in HTTP\/1\.1 \(its answer begins with "220 mail/,
    ],
    [
      "a service that closes at once",
      (socket) => socket.destroy(),
      /closes the connection without an answer to GET \/v1\/models/,
    ],
    [
      "a service that says nothing",
      () => undefined,
      /accepts connections and sent nothing for 0\.\d s after GET \/v1\/models/,
    ],
    [
      "a service that stops in the head",
      (socket) => socket.write("HTTP/1.1 200 OK\r\nX-A: "),
      /did not finish its head/,
    ],
  ];
  test.each(rows)("%s is named", async (_title, greet, sentence) => {
    await using stub = await startTcp(greet);
    expect(await sentenceOf(http(stub), { deadlineMs: 300 })).toMatch(sentence);
    expect(stub.requests.length).toBeLessThanOrEqual(2); // the second one may be the handshake that looks for TLS
  });
});

describe("an address that is not reached:", () => {
  afterEach(() => {
    delete process.env["HTTPS_PROXY"];
  });

  test("a name without an address", async () => {
    const said = await sentenceOf("https://no-such-host.invalid/v1");
    expect(said).toMatch(/host name no-such-host\.invalid cannot be resolved \(DNS\)/);
  });

  test("a name without an address where only a proxy leads out", async () => {
    process.env["HTTPS_PROXY"] = "http://user:secret@proxy:3128";
    const said = await sentenceOf("https://no-such-host.invalid/v1");
    expect(said).toMatch(/\(HTTPS_PROXY is set, but the suite connects directly/);
    expect(said).not.toContain("secret");
  });

  test.each(["127.0.0.1", "localhost", "[::1]"])("a port of %s on which nothing listens", async (host) => {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe
    await new Promise((resolve) => void server.close(resolve));
    const said = await sentenceOf(`http://${host}:${port}/v1`);
    expect(said).toBe(
      `Nothing listens on ${host}:${port} (connection refused): start the service, or correct host and port in --base-url.`,
    );
  });

  test("a service that is only on IPv6 is reached by its address", async () => {
    await using stub = await startHttp(sound, "::1");
    expect(await sentenceOf(`http://[::1]:${stub.port}/v1/`)).toBeUndefined();
  });
});

describe("a base URL is corrected before anything is sent:", () => {
  const rows: readonly (readonly [given: string, sentence: RegExp])[] = [
    ["", /--base-url is empty/],
    ["localhost:8000/v1", /write http:\/\/localhost:8000\/v1\.$/],
    ["api.example.com/v1", /write https:\/\/api\.example\.com\/v1\.$/],
    ["http:/host/v1", /does not begin with http:\/\/ or https:\/\/: write http:\/\/host\/v1\.$/],
    ["ftp://host/v1", /has the scheme ftp:\/\/.*write http:\/\/ or https:\/\//],
    ["ws://host/v1", /has the scheme ws:\/\//],
    ["file:///v1", /has the scheme file:\/\//],
    ["http://", /is not a URL/],
    ["http://host:99999/v1", /is not a URL/],
    ["http://::1:8000/v1", /IPv6 address without brackets/],
    ["https://user:hunter2@host/v1/", /contains credentials: write https:\/\/host\/v1, and put the key/],
    ["https://host/v1?api-version=2024-10-21", /has a query.*write https:\/\/host\/v1,/],
    ["https://host/v1#chat", /has a fragment.*write https:\/\/host\/v1\./],
    ["https://host/v1/chat/completions", /path of an operation.*write https:\/\/host\/v1\.$/],
    ["https://host/openai/v1//chat/completions/", /write https:\/\/host\/openai\/v1\.$/],
  ];
  test.each(rows)("%s", async (given, sentence) => {
    const said = await sentenceOf(given);
    expect(said).toMatch(sentence);
    expect(said).not.toContain("hunter2");
  });
});

test.each([
  ["Bearer abc-123", /begins with "Bearer"/],
  ["abc-123\n", /begins or ends with white space/],
  ['"abc-123"', /stands in quotes/],
  ["abc–123", /a character that a header cannot carry/],
])("the key %j is refused without a request, and not shown", async (key, sentence) => {
  const said = await sentenceOf("http://127.0.0.1:9/v1", { key });
  expect(said).toMatch(sentence);
  expect(said).not.toContain("123");
});
