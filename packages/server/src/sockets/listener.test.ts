import { execFile, execFileSync } from "node:child_process";
import { connect } from "node:net";
import { setImmediate as nextRound } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { makeConfig } from "../config/read-config.ts";
import { Listener } from "./listener.ts";
import { createLog } from "../observe/log.ts";
import { RefusalSample } from "../observe/refusal-sample.ts";

test("a request that arrives before `serve` is answered as soon as `serve` is called", async () => {
  const { log } = createLog("silent", "json");
  const config = makeConfig({ port: 0 }, {});
  await using listener = await Listener.open(config, log, new RefusalSample(Date.now));
  const asked = fetch(`${listener.url}/early`).then(async (answer) => answer.text());
  // The server reads the request in the round after the one that accepts the connection.
  while (listener.connections.open === 0) await nextRound();
  await nextRound();
  listener.serve((request, response) => void response.end(`served ${request.url}`));
  expect(await asked).toBe("served /early");
  const later = await fetch(`${listener.url}/later`);
  expect(await later.text()).toBe("served /later");
});

/** Runs in another process, while this process is blocked and accepts nothing. */
const openAndReset = `
  const socket = require("node:net").connect(Number(process.argv[1]), "127.0.0.1", () => socket.resetAndDestroy());
`;

test("a connection that was reset before it is accepted does not take a place", async () => {
  const { log } = createLog("silent", "json");
  const config = makeConfig({ port: 0, maxSockets: 1 }, {});
  await using listener = await Listener.open(config, log, new RefusalSample(Date.now));
  const port = Number(new URL(listener.url).port);
  const first = connect(port, "127.0.0.1");
  while (listener.connections.open === 0) await nextRound();
  execFileSync(process.execPath, ["-e", openAndReset, String(port)]);
  // It waits already, and one of these rounds is enough to accept it.
  const open: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    await nextRound();
    open.push(listener.connections.open);
  }
  expect(open).toEqual([1, 1, 1]);

  const living = connect(port, "127.0.0.1");
  while (listener.connections.open === 1) await nextRound();
  first.destroy();
  living.destroy();
});

const each = 1000;
/** Sends requests of 8 KB, of which Node reads eight at a time. They are probes, which wait for no turn. */
const sendMany = `
  const [port, count] = process.argv.slice(1).map(Number);
  const request = "GET /health?" + "a".repeat(8000) + " HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n";
  for (let socket = 0; socket < 4; socket += 1)
    require("node:net").connect(port, "127.0.0.1").end(request.repeat(count)).resume();
`;

test("pipelined requests are read from one connection at a time, a few in a round", async () => {
  const { log } = createLog("silent", "json");
  await using listener = await Listener.open(makeConfig({ port: 0 }, {}), log, new RefusalSample(Date.now));
  const rounds: number[] = [];
  let ofThisRound = 0;
  listener.serve((_request, response) => {
    ofThisRound += 1;
    if (ofThisRound === 1)
      setImmediate(() => {
        rounds.push(ofThisRound);
        ofThisRound = 0;
      });
    response.end();
  });
  execFile(process.execPath, ["-e", sendMany, new URL(listener.url).port, String(each)]);
  await vi.waitUntil(() => rounds.reduce((sum, requests) => sum + requests, 0) === 4 * each, 10_000);
  // Each of the four connections may be read once before it has to wait.
  expect(Math.max(...rounds)).toBeLessThanOrEqual(4 * (16 + 9));
});
