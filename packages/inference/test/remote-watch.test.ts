import { expect, test } from "vitest";
import { answerWell, ask, open, refuse, start } from "../testing/remote-places.ts";
import { until } from "../testing/until.ts";

/** The remote driver reports the true state of an upstream, with and without requests to it. */

test("an address that now serves other models is noticed, and so is its return", async () => {
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

test("an upstream that is down is noticed without requests, and so is its return", async () => {
  const place = await open();
  const { port } = new URL(place.url);
  const engine = await start([place]);
  await place.stop();
  await until("it is not ready", () => engine.state === "crashed");
  await until("the reason is known", () => engine.stateReason.includes("ECONNREFUSED"));
  await open(answerWell, Number(port));
  await engine.whenReady();
  expect(await ask(engine)).toBe("abcdefgh");
});

test("it is ready again as soon as it is back, after any time", async () => {
  const place = await open();
  const engine = await start([place]);
  place.isDown = true;
  // After 8 failures in a row, a circuit breaker that ignored probes would keep the upstream ejected for at least 30 s.
  await until("it has failed often", () => place.broken >= 8);
  expect(engine.state).toBe("crashed");
  place.isDown = false;
  await engine.whenReady();
}, 20_000);
