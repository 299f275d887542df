import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { answerWell, ask, open, refuse, start } from "./remote-places.ts";
import { until } from "./until.ts";

/** Whether the remote driver tells the truth about a place, asked or not. */

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
