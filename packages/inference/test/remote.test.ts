import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { RemoteOptions } from "../src/remote/remote-engine.ts";
import { answerWell, ask, closing, event, letters, open, refuse, start, tokens } from "../testing/remote-places.ts";
import type { Answer } from "../testing/remote-places.ts";
import { askOne, lastUsage, oneByOne, requestFor, stream } from "../testing/requests.ts";
import { until } from "../testing/until.ts";

/** The remote driver on upstreams that answer in all the ways that we have seen. */

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
  expect(engine.metadata).toMatchObject({ contextLength: 512, slots: 8 });
});

test("sends values with which an engine can sample: a logit that is divided by these would be infinite", async () => {
  const place = await open();
  const engine = await start([place]);
  await askOne(engine, { sampling: { temperature: 1e-39, repetition_penalty: 1e-39 } });
  expect(JSON.parse(place.requests.at(-1)?.body ?? "{}")).toMatchObject({ temperature: 0, repetition_penalty: 0.01 });
});

test("the routes may stand behind a path, as KServe has them", async () => {
  const place = await open();
  const engine = await start([{ ...place, url: `${place.url}/openai` }]);
  expect(await ask(engine)).toBe("abcdefgh");
  expect(place.requests.at(-1)?.path).toBe("/openai/v1/completions");
});

test("an operator may want a shorter context than the other side has", async () => {
  const engine = await start([await open()], { contextLength: 256 });
  expect(engine.metadata?.contextLength).toBe(256);
});

describe("another upstream is asked", () => {
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

  test("when one is down, and that one is asked again when it is back", async () => {
    const [gone, stays] = [await open(), await open()];
    const engine = await start([gone, stays]);
    const port = Number(new URL(gone.url).port);
    await gone.stop();
    // The one that answered the probes gets its next requests later than the other one.
    for (let turn = 0; turn < 20 && engine.gauges().ejected === 0; turn += 1)
      expect(await ask(engine)).toBe("abcdefgh");
    expect(engine.gauges().ejected).toBe(1);
    const back = await open(answerWell, port);
    await until("it is asked again", async () => (await ask(engine)) === "abcdefgh" && back.asked > 0);
    expect(engine.gauges().ejected).toBe(0);
  });

  test("never after a part of an answer has arrived, and never for an error of the request", async () => {
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

test("the upstream with the fewest requests is asked first", async () => {
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
  for await (const one of oneByOne(stream(engine, requestFor({}), new AbortController().signal)))
    if (one.kind === "text") break;
  await closed.promise;
  expect(engine.gauges()).toMatchObject({ running: 0, aborted: 1 });
});

test("tokens of an answer that is not streamed count, also when the caller hangs up before they are read", async () => {
  const place = await open();
  const engine = await start([place]);
  const closed = Promise.withResolvers<void>();
  const hangUp = new AbortController();
  const reads: number[] = [];
  const writeSome = async (response: ServerResponse): Promise<void> => {
    for (const letter of letters.subarray(0, 5)) {
      const usage = { prompt_tokens: 9, completion_tokens: letter - (letters[0] ?? 0) + 1 };
      response.write(event({ choices: [{ token_ids: [letter], finish_reason: null }], usage }));
      await wait(8);
    }
    hangUp.abort(new Error("the caller is gone"));
  };
  place.answer = (response) => {
    response.on("close", closed.resolve);
    void writeSome(response);
  };
  const asking = (async (): Promise<void> => {
    for await (const events of stream(engine, requestFor({ isWhole: true }), hangUp.signal))
      reads.push(lastUsage(events)?.completionTokens ?? 0);
  })();
  await expect(asking).rejects.toThrow("the caller is gone");
  await closed.promise;
  expect(reads.at(-1)).toBe(5);
  expect(reads.length).toBeLessThan(5);
});

test("an upstream that becomes silent: its stream fails, it is ejected, the engine is not ready, and recovers", async () => {
  const place = await open();
  const engine = await start([place]);
  place.answer = (response) => void response.write(tokens(1, null));
  expect(await ask(engine)).toBe("a(stalled)");
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
  test("a proxy is used", async () => {
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

  /** The test creates certificates with openssl. */
  const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

  test.runIf(hasOpenssl)("a certificate of our own is trusted only if it is named", async () => {
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
