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
