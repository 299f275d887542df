import { describe, expect, test } from "vitest";
import { answerWell, ask, open, refuse, start } from "../testing/remote-places.ts";
import { quickTimings, startScriptedVllm } from "../testing/start-scripted-vllm.ts";
import { until } from "../testing/until.ts";

// A request is the first to find its engine dead. When it has failed, the engine is not ready, long before the next check.

/** Longer than a test takes on a machine that is not busy. */
const checkEveryMs = 5000;

describe("a vLLM whose core has died while its API still answers", () => {
  const timings = {
    ...quickTimings,
    startSilenceMs: 60_000,
    watchEveryMs: 1000,
    restartFirstMs: 1500,
    maxRestartMs: 1500,
  };

  test("is not ready once a request has failed, and is started again", async () => {
    await using started = startScriptedVllm({ coreDiesAfter: 5 }, { timings });
    const { engine } = started.vllm;
    await engine.whenReady();
    const { pid } = started.vllm;
    expect(await ask(engine, AbortSignal.timeout(20_000))).toMatch(/^[a-z]{4}\(crashed\)$/);
    expect(engine.state).toBe("crashed");
    expect(await ask(engine, AbortSignal.timeout(20_000))).toBe("(unavailable)");
    await until("it is started again", () => engine.gauges().restarts === 1);
    await engine.whenReady();
    expect(started.vllm.pid).not.toBe(pid);
  });

  test("is ready again where it was only one request", async () => {
    await using started = startScriptedVllm({ refuses: 1 }, { timings });
    const { engine } = started.vllm;
    await engine.whenReady();
    const { pid } = started.vllm;
    expect(await ask(engine, AbortSignal.timeout(20_000))).toBe("(crashed)");
    expect(engine.state).toBe("ready");
    expect(await ask(engine, AbortSignal.timeout(20_000))).toMatch(/^[a-z]{8}$/);
    expect([started.vllm.pid, engine.gauges().restarts]).toEqual([pid, 0]);
  });

  test("is not ready while it fails twice in a row, and goes on when it answers again", async () => {
    await using started = startScriptedVllm({ refuses: 2 }, { timings });
    const { engine } = started.vllm;
    await engine.whenReady();
    const { pid } = started.vllm;
    expect(await ask(engine, AbortSignal.timeout(20_000))).toBe("(crashed)");
    await engine.whenReady();
    expect(await ask(engine, AbortSignal.timeout(20_000))).toMatch(/^[a-z]{8}$/);
    expect(started.reports.map(({ state }) => state).slice(-2)).toEqual(["crashed", "ready"]);
    expect([started.vllm.pid, engine.gauges().restarts]).toEqual([pid, 0]);
  });
});

describe("an engine elsewhere", () => {
  const timings = { ...quickTimings, watchEveryMs: checkEveryMs };

  test("that is gone is not ready once a request has failed", async () => {
    const place = await open();
    const engine = await start([place], { timings });
    await place.stop();
    expect(await ask(engine, AbortSignal.timeout(20_000))).toBe("(unavailable)");
    expect(engine.state).toBe("crashed");
    expect(engine.stateReason).toContain("ECONNREFUSED");
  });

  test("that failed once is still ready", async () => {
    const place = await open();
    const engine = await start([place], { timings });
    let failures = 1;
    place.answer = (response, body, request) =>
      (failures-- > 0 ? refuse(500, "no") : answerWell)(response, body, request);
    expect(await ask(engine, AbortSignal.timeout(20_000))).toBe("(crashed)");
    expect(engine.state).toBe("ready");
    expect(await ask(engine, AbortSignal.timeout(20_000))).toBe("abcdefgh");
  });

  test("at two addresses is ready while one answers, and no request fails", async () => {
    const places = [await open(), await open()];
    const engine = await start(places, { timings });
    await places[0]?.stop();
    expect(await Promise.all([1, 2, 3, 4].map(() => ask(engine)))).toEqual(Array(4).fill("abcdefgh"));
    expect(engine.state).toBe("ready");
  });
});
