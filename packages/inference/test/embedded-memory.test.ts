import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ask, askOne } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";
import { until } from "../testing/until.ts";
import { neverEnding, startMini } from "./start-engines.ts";
import type { StartedEngine } from "./start-engines.ts";

const patienceMs = 180_000;
const idleMs = 1000;
let started: StartedEngine;
let endless: Record<string, number>;
beforeAll(async () => {
  endless = await neverEnding();
  started = await startMini({ idleMs });
  await started.engine.whenReady();
});
afterAll(() => started[Symbol.asyncDispose]());

/**
 * Memory of 8 slots in MB, by the number of tokens that the cache of each slot has room for: at rest, after one step, and all.
 */
const megabytes = { 2047: 24, 8191: 96, 32_768: 384 };

/** Returns the memory of the engine's process in MB. A ready engine has a process. */
function memory(): number {
  const text = readFileSync(`/proc/${started.engine.pid as number}/smaps_rollup`, "utf8");
  return Number(/^Rss:\s+(\d+)/m.exec(text)?.[1]) / 1024;
}

const hasProc = process.platform === "linux";
const long = (words: number, members: Ask = {}): Ask => ({
  say: `The word is vault.${" gas".repeat(words)}`,
  maxTokens: 2,
  ...members,
});
const talk = (seed: string, maxTokens: number): Ask => ({
  seed,
  maxTokens,
  sampling: { temperature: 1.2, logit_bias: endless },
});

describe.skipIf(!hasProc)("memory (read from /proc, so on Linux)", () => {
  test(
    "is small at rest, grows for a long prompt, and goes back when no request has come for some time",
    async () => {
      const atRest = memory();
      expect(atRest).toBeLessThan(megabytes[32_768]);
      await ask(started.engine, long(2200), AbortSignal.timeout(patienceMs));
      const grown = memory();
      expect(grown - atRest).toBeGreaterThan((megabytes[8191] - megabytes[2047]) / 2);
      await until("memory went back", () => memory() < grown - megabytes[2047], patienceMs);
      expect((await readdir(started.runFolder)).filter((name) => name.endsWith(".move"))).toEqual([]);
    },
    patienceMs,
  );
});

describe("while the memory grows", () => {
  test(
    "a seed gives the text that it gives when the memory is large, in that slot and in others",
    { timeout: patienceMs },
    async () => {
      const first = talk("1", 150);
      // This request needs more memory in the middle of its answer.
      const second = { ...long(1970), ...talk("2", 120) };
      const textOf = async (members: Ask): Promise<string> =>
        (await askOne(started.engine, members, AbortSignal.timeout(patienceMs))).text;
      const growing = await Promise.all([textOf(first), textOf(second)]);
      expect(await Promise.all([textOf(first), textOf(second)])).toEqual(growing);
      expect([await textOf(first), await textOf(second)]).toEqual(growing);
    },
  );

  test("a request that hangs up costs no slot", { timeout: patienceMs }, async () => {
    for (const ms of [5, 20, 60, 150]) {
      await ask(started.engine, long(2200, { n: 2 }), AbortSignal.timeout(ms)).catch(() => undefined);
    }
    const { choices } = await ask(started.engine, { n: 8, maxTokens: 3 }, AbortSignal.timeout(patienceMs));
    expect(choices.every((choice) => choice.finish !== undefined)).toBe(true);
    expect(started.engine.gauges().restarts).toBe(0);
  });
});

describe("memory that cannot grow, because no sequence can move", () => {
  test(
    "fails the request that needs it and no other, and grows when it can again",
    { timeout: patienceMs },
    async () => {
      await using single = await startMini({ idleMs, slots: 2 });
      const { engine, runFolder } = single;
      await engine.whenReady();
      const patience = AbortSignal.timeout(patienceMs);
      const [socket = ""] = await readdir(runFolder);
      // Sequences move through a file. A folder with its name makes that fail.
      const obstacle = join(runFolder, `${socket}.move`);
      mkdirSync(obstacle);
      const talking = askOne(engine, talk("1", 200), patience);
      await until("it is answered", async () => (await engine.status(patience)).progress > 60);
      await expect(ask(engine, long(2200), patience)).rejects.toMatchObject({ kind: "crashed" });
      const { text } = await talking;
      await wait(2 * idleMs);
      rmdirSync(obstacle);
      expect((await ask(engine, long(2200), patience)).usage.completionTokens).toBeGreaterThan(0);
      expect((await askOne(engine, talk("1", 200), patience)).text).toBe(text);
      expect(engine.gauges().restarts).toBe(0);
    },
  );
});
