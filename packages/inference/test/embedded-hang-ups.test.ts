import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EngineError } from "../src/index.ts";
import type { EngineStatus } from "../src/supervision/status.ts";
import { ask, askOne, oneByOne, requestFor, stream } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";
import { neverEnding, readMiniVocabulary, startMini } from "./start-engines.ts";
import type { StartedEngine } from "./start-engines.ts";
import { until } from "../testing/until.ts";

let started: StartedEngine;
let endless: Record<string, number>;
/** The token that writes the letter a. */
let letterA: number;
beforeAll(async () => {
  endless = await neverEnding();
  const vocabulary = await readMiniVocabulary();
  letterA = Array.from({ length: vocabulary.size }, (_, id) => vocabulary.bytesOf(id)).findIndex(
    (bytes) => String(bytes) === "97",
  );
  started = await startMini({ timings: { restartFirstMs: 50, watchEveryMs: 100, unansweredMs: 3000, stallMs: 3000 } });
  await started.engine.whenReady();
});
afterAll(() => started[Symbol.asyncDispose]());

const status = (): Promise<EngineStatus> => started.engine.status(AbortSignal.timeout(20_000));

describe("hanging up", () => {
  const idle = async (): Promise<boolean> => {
    const { running, waiting, computing } = await status();
    return running + waiting + computing === 0;
  };
  const long = (): Ask => ({ say: "word ".repeat(6000), maxTokens: 2000, sampling: { logit_bias: endless } });
  const hangUpAfter = async (ms: number, members: Ask): Promise<void> => {
    const signal = AbortSignal.timeout(ms);
    await ask(started.engine, members, signal).catch(() => undefined);
  };

  test("while the prompt is read, stops the reading", async () => {
    const before = (await status()).progress;
    await hangUpAfter(120, { ...long(), n: 2 });
    await until("everything has stopped", idle);
    expect((await status()).progress - before).toBeLessThan(2 * 6000);
  });

  test("while all text may still be a stop string, stops the generation", async () => {
    const before = (await status()).progress;
    const sampling = { logit_bias: { ...endless, [letterA]: 100 } };
    await hangUpAfter(150, { maxTokens: 20_000, sampling, stop: ["a".repeat(20_000)] });
    await until("everything has stopped", idle);
    expect((await status()).progress - before).toBeLessThan(10_000);
  });

  test("while the request waits for a slot, leaves the queue", async () => {
    const blocking = new AbortController();
    const blocker = ask(started.engine, { ...long(), say: "Go on.", n: 8 }, blocking.signal).catch(() => undefined);
    await until("all slots are taken", async () => (await status()).running === 8);
    await hangUpAfter(100, {});
    await until("nobody waits", async () => (await status()).waiting === 0);
    blocking.abort();
    await blocker;
    await until("everything has stopped", idle);
  });

  test("at any moment, fifty times, costs no slot", async () => {
    const hangUps = Array.from({ length: 50 }, (_, index) =>
      hangUpAfter(index * 8, { ...long(), say: index % 3 === 0 ? "word ".repeat(900) : "Go on.", n: 1 + (index % 4) }),
    );
    await Promise.all(hangUps);
    await until("everything has stopped", idle);
    const { choices } = await ask(started.engine, { n: 8, maxTokens: 3 });
    expect(choices.every((choice) => choice.finish !== undefined)).toBe(true);
    expect(started.engine.gauges()).toMatchObject({ running: 0, restarts: 0 });
  });
});

describe("a reader that stops reading", () => {
  test("stops the generation until it reads again, costs no memory, and causes no restart", async () => {
    const { engine } = started;
    const request = requestFor({ maxTokens: 12_000, topLogprobs: 20, sampling: { logit_bias: endless } });
    const reading = oneByOne(stream(engine, request, new AbortController().signal));
    await reading.next();
    const memory = process.memoryUsage().rss;
    let last = -1;
    await until("nothing more is written", async () => {
      const before = last;
      const { progress, computing } = await status();
      last = progress;
      return before === progress && computing === 0;
    });
    const stoodStillAt = Date.now();
    await until("the watchdog has looked long enough", () => Date.now() - stoodStillAt > 3500);
    expect([(await status()).progress, engine.gauges().restarts]).toEqual([last, 0]);
    expect(process.memoryUsage().rss - memory).toBeLessThan(96 * 2 ** 20);
    let written = 0;
    while (written < 600) {
      const { value } = await reading.next();
      if (value?.kind === "usage") written = value.usage.completionTokens;
    }
    expect((await status()).progress).toBeGreaterThan(last);
    await reading.return?.(undefined);
    await until("everything has stopped", async () => (await status()).running === 0);
  });
});

describe("a real engine process", () => {
  const endlessly = (): Promise<unknown> =>
    ask(started.engine, { maxTokens: 4000, sampling: { logit_bias: endless } }).catch((error: unknown) =>
      error instanceof EngineError ? error.kind : error,
    );

  test.each([
    ["killed", "SIGKILL", "crashed"],
    ["frozen", "SIGSTOP", "stalled"],
  ] as const)("%s: its streams fail, and it is started again", async (_title, signal, kind) => {
    const { engine } = started;
    const { restarts } = engine.gauges();
    const streams = [endlessly(), endlessly()];
    await until("both stream", async () => (await status()).running === 2);
    // A ready engine has a process.
    process.kill(engine.pid as number, signal);
    expect(await Promise.all(streams)).toEqual([kind, kind]);
    await until("it is started again", () => engine.gauges().restarts === restarts + 1);
    await engine.whenReady();
    expect((await askOne(engine, { maxTokens: 4 })).usage.completionTokens).toBeGreaterThan(0);
  });
});
