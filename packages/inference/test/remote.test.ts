import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { EngineError, startRemoteEngine } from "../src/index.ts";
import type { Engine, RemoteOptions } from "../src/index.ts";
import { neutral, requestFor } from "./requests.ts";
import { miniFolder, quickTimings } from "./start-scripted-vllm.ts";
import { until } from "./until.ts";

/** The remote driver against places that answer in every way that was seen. */

type Answer = (response: ServerResponse, body: string, request: IncomingMessage) => void;

interface Place {
  readonly url: string;
  /** Completions that were asked of it, the probe included. */
  asked: number;
  readonly requests: { readonly headers: IncomingMessage["headers"]; readonly body: string }[];
  answer: Answer;
  stop(): Promise<void>;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const letters = Buffer.from("abcdefgh");
const event = (data: unknown): string => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const tokens = (count: number, finish: string | null): string =>
  event({
    choices: [{ token_ids: [...letters.subarray(0, count)], finish_reason: finish }],
    usage: { prompt_tokens: 9, completion_tokens: count },
  });

const answerWell: Answer = (response, body) => {
  const { max_tokens: most } = JSON.parse(body) as { readonly max_tokens: number }; // written by the engine under test
  response.end(tokens(Math.min(most, letters.length), "length") + event("[DONE]"));
};
const refuse =
  (status: number, body: string): Answer =>
  (response) =>
    void response.writeHead(status).end(body);

async function open(answer: Answer = answerWell, port = 0): Promise<Place> {
  const server = createServer((request, response) => {
    if (request.url === "/v1/models") return void response.end('{"data": [{"id": "there", "max_model_len": 512}]}');
    if (request.url !== "/v1/completions") return void response.writeHead(404).end('{"detail": "Not Found"}');
    void complete(request, response);
  });
  const complete = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    place.asked += 1;
    const body = await text(request);
    place.requests.push({ headers: request.headers, body });
    place.answer(response, body, request);
  };
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address.
  const { port: taken } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  const place: Place = { url: `http://127.0.0.1:${taken}`, asked: 0, requests: [], answer, stop };
  closing.push(async () => server.listening && stop());
  return place;
}

async function start(places: readonly Place[], changes: Partial<RemoteOptions> = {}): Promise<Engine> {
  const engine = startRemoteEngine({
    name: "vendor/model-1-mini",
    servedName: "there",
    baseUrls: places.map(({ url }) => url),
    tokenizerFolder: miniFolder,
    headers: {},
    bearer: undefined,
    caFile: undefined,
    proxyUrl: undefined,
    slots: 8,
    sampling: neutral,
    timings: { ...quickTimings, stallMs: 500 },
    report: () => undefined,
    ...changes,
  });
  closing.push(() => engine.close(0));
  await engine.whenReady();
  return engine;
}

async function ask(engine: Engine, signal = AbortSignal.timeout(5000)): Promise<string> {
  let said = "";
  try {
    for await (const one of engine.stream(requestFor({ max_tokens: 8 }), signal)) {
      if (one.kind === "text") said += one.text;
    }
    return said;
  } catch (error) {
    return error instanceof EngineError ? `${said}(${error.kind})` : String(error);
  }
}

test("speaks to the other side as it wants: bearer, headers, name, with or without /v1", async () => {
  const place = await open();
  const engine = await start([{ ...place, url: `${place.url}/v1/` }], {
    bearer: "k",
    headers: { "x-tenant": "parley" },
  });
  expect(await ask(engine)).toBe("abcdefgh");
  const { headers, body } = place.requests.at(-1) ?? { headers: {}, body: "{}" };
  expect(headers).toMatchObject({ authorization: "Bearer k", "x-tenant": "parley" });
  expect(JSON.parse(body)).toMatchObject({ model: "there", stream: true });
  expect(engine.facts).toMatchObject({ context_length: 512, slots: 8 });
});

test("an address where somebody else's models are served now is noticed, and so is its return", async () => {
  const place = await open();
  const engine = await start([place]);
  place.answer = refuse(404, '{"error": {"message": "The model `there` does not exist.", "code": 404}}');
  expect(await ask(engine)).toBe("(unavailable)");
  await until("it is not ready", () => engine.state === "crashed");
  expect(engine.stateReason).toContain("does not exist");
  place.answer = answerWell;
  await engine.whenReady();
  expect(await ask(engine)).toBe("abcdefgh");
});

test("one that has gone is noticed while nobody asks, and is there again as soon as it is back", async () => {
  const place = await open();
  const { port } = new URL(place.url);
  const engine = await start([place]);
  await place.stop();
  await until("it is not ready", () => engine.state === "crashed");
  // Long enough for the pause after a failure to have grown beyond what the test waits for.
  await until("it was asked in vain for a while", () => engine.stateReason.includes("ECONNREFUSED"));
  await wait(3500);
  await open(answerWell, Number(port));
  const backAt = performance.now();
  await engine.whenReady();
  expect(performance.now() - backAt).toBeLessThan(2000);
});

describe("another place is asked", () => {
  test.each<[string, Answer]>([
    ["when one is busy", refuse(429, '{"error": "Too many"}')],
    ["behind a broken gateway: HTML", refuse(502, "<html><h1>Bad Gateway</h1></html>")],
    ["when one is overloaded", refuse(503, '{"error": {"message": "busy"}}')],
  ])("%s", async (_title, answer) => {
    const places = [await open(), await open()];
    const engine = await start(places);
    for (const place of places.slice(0, 1)) place.answer = answer;
    for (let turn = 0; turn < 4; turn += 1) expect(await ask(engine)).toBe("abcdefgh");
    expect(places[1]?.asked).toBeGreaterThanOrEqual(4);
  });

  test("when one is gone, and that one is asked again once it is back", async () => {
    const [gone, stays] = [await open(), await open()];
    const engine = await start([gone, stays]);
    const port = Number(new URL(gone.url).port);
    await gone.stop();
    for (let turn = 0; turn < 3; turn += 1) expect(await ask(engine)).toBe("abcdefgh");
    const back = await open(answerWell, port);
    await until("it is asked again", async () => (await ask(engine)) === "abcdefgh" && back.asked > 0);
  });

  test("never once something of an answer was seen, and never for what it says of the request", async () => {
    const places = [await open(), await open()];
    const engine = await start(places);
    const before = places.map(({ asked }) => asked);
    const breakOff: Answer = (response) => void response.write(tokens(2, null), () => response.destroy());
    for (const place of places) place.answer = breakOff;
    expect(await ask(engine)).toBe("ab(crashed)");
    for (const place of places) place.answer = refuse(400, '{"object": "error", "message": "no"}');
    expect(await ask(engine)).toBe("(rejected)");
    expect(places.reduce((sum, { asked }, index) => sum + asked - (before[index] ?? 0), 0)).toBe(2);
  });
});

test("the place with the least to do is asked first", async () => {
  const places = [await open(), await open()];
  const engine = await start(places);
  const held: ServerResponse[] = [];
  for (const place of places) place.answer = (response) => void held.push(response.writeHead(200));
  const hangUp = new AbortController();
  const before = places.map(({ asked }) => asked);
  const open4 = Array.from({ length: 4 }, () => ask(engine, hangUp.signal));
  await until("all are asked", () => held.length === 4);
  expect(places.map(({ asked }, index) => asked - (before[index] ?? 0))).toEqual([2, 2]);
  hangUp.abort();
  await Promise.all(open4);
});

test("a hang-up closes the connection", async () => {
  const place = await open();
  const engine = await start([place]);
  const closed = Promise.withResolvers<void>();
  place.answer = (response) => {
    response.on("close", closed.resolve);
    response.write(tokens(1, null));
  };
  for await (const one of engine.stream(requestFor({}), new AbortController().signal)) if (one.kind === "text") break;
  await closed.promise;
  expect(engine.gauges()).toMatchObject({ running: 0, aborted: 1 });
});

test("silence is no answer: the stream fails, the place is left alone, the engine is not ready, and comes back", async () => {
  const place = await open();
  const engine = await start([place]);
  place.answer = (response) => void response.write(tokens(1, null));
  expect(await ask(engine)).toBe("a(crashed)");
  await until("it is not ready", () => engine.state === "crashed");
  expect(engine.stateReason).toContain(place.url);
  expect(await ask(engine)).toBe("(unavailable)");
  place.answer = answerWell;
  await engine.whenReady();
  expect(await ask(engine)).toBe("abcdefgh");
});

test.each<[string, Partial<RemoteOptions>, RegExp]>([
  [
    "another name than the one that is served",
    { servedName: "elsewhere" },
    /does not serve elsewhere, it lists: there/,
  ],
  ["no tokenizer where one is named", { tokenizerFolder: "/nonexistent" }, /The folder \/nonexistent is missing/],
])("says why it is not ready: %s", async (_title, changes, why) => {
  const place = await open();
  const reasons: string[] = [];
  void start([place], { ...changes, report: ({ detail }) => void reasons.push(detail) }).catch(() => undefined);
  await until("it says so", () => reasons.some((reason) => why.test(reason)));
  expect(reasons.some((reason) => why.test(reason))).toBe(true);
});

describe("on the way there", () => {
  test("a proxy is spoken through", async () => {
    const place = await open();
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? "");
      const { method = "", headers, url = "" } = request;
      const onward = httpRequest(url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    closing.push(async () => proxy.close());
    // A server that listens on a port has an address.
    const { port } = proxy.address() as AddressInfo;
    const engine = await start([place], { proxyUrl: `http://127.0.0.1:${port}` });
    expect(await ask(engine)).toBe("abcdefgh");
    expect(asked).toContain(`${place.url}/v1/completions`);
  });

  /** Certificates cannot be made without it. */
  const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

  test.runIf(hasOpenssl)("a certificate of our own is believed where it is named, and nowhere else", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-"));
    closing.push(async () => rmSync(folder, { recursive: true }));
    const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"];
    spawnSync("openssl", [
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-keyout",
      keyFile,
      "-out",
      certFile,
      ...subject,
    ]);
    const place = await open();
    const secure = createTlsServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) }, (near) => {
      const far = connect(Number(new URL(place.url).port), "127.0.0.1");
      near.pipe(far).pipe(near);
      near.on("error", () => far.destroy());
      far.on("error", () => near.destroy());
    });
    secure.listen(0, "127.0.0.1");
    await once(secure, "listening");
    closing.push(async () => secure.close());
    // As above.
    const { port } = secure.address() as AddressInfo;
    const there = { ...place, url: `https://127.0.0.1:${port}` };
    expect(await ask(await start([there], { caFile: certFile }))).toBe("abcdefgh");
    const reasons: string[] = [];
    void start([there], { report: ({ detail }) => void reasons.push(detail) }).catch(() => undefined);
    await until("it is not believed", () => reasons.some((reason) => /self-signed certificate/.test(reason)));
    expect(reasons.join()).toContain("self-signed certificate");
  });
});
