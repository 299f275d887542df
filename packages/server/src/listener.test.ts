import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate as nextRound } from "node:timers/promises";
import { expect, test } from "vitest";
import { makeConfig } from "./config/read-config.ts";
import { Listener } from "./listener.ts";
import { createLog } from "./observe/log.ts";
import { RefusalSample } from "./observe/refusal-sample.ts";

test("a request that comes before there is anything to serve is answered as soon as there is", async () => {
  const { log } = createLog("silent", "json");
  const config = makeConfig({ port: 0 }, {});
  await using listener = await Listener.open(config, log, new RefusalSample(Date.now));
  const asked = fetch(`${listener.url}/early`).then(async (answer) => answer.text());
  // The round after the one that takes the connection takes its bytes.
  while (listener.connections.open === 0) await nextRound();
  await nextRound();
  listener.serve((request, response) => void response.end(`served ${request.url}`));
  expect(await asked).toBe("served /early");
  const later = await fetch(`${listener.url}/later`);
  expect(await later.text()).toBe("served /later");
});

/** Run by another process: this one accepts nothing meanwhile. */
const openAndReset = `
  const socket = require("node:net").connect(Number(process.argv[1]), "127.0.0.1", () => socket.resetAndDestroy());
`;

test("a connection that was reset before it is accepted takes nobody's place", async () => {
  const { log } = createLog("silent", "json");
  const config = makeConfig({ port: 0, maxSockets: 1 }, {});
  await using listener = await Listener.open(config, log, new RefusalSample(Date.now));
  const port = Number(new URL(listener.url).port);
  const first = connect(port, "127.0.0.1");
  while (listener.connections.open === 0) await nextRound();
  execFileSync(process.execPath, ["-e", openAndReset, String(port)]);
  // It has waited since before these rounds, and one is enough to accept it.
  for (let round = 0; round < 3; round += 1) await nextRound();
  expect(listener.connections.refused.ofAll).toBe(0);

  const living = connect(port, "127.0.0.1");
  while (listener.connections.refused.ofAll === 0) await nextRound();
  await once(first, "close");
  living.destroy();
});
