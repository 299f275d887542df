import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, askOne } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";
import { until } from "../testing/until.ts";
import { neverEnding, startMini } from "./start-engines.ts";
import type { StartedEngine } from "./start-engines.ts";

const patienceMs = 60_000;
const idleMs = 500;
let started: StartedEngine;
let endless: Record<string, number>;
beforeAll(async () => {
  endless = await neverEnding();
  started = await startMini({ idleMs });
  await started.engine.whenReady();
});
afterAll(() => started[Symbol.asyncDispose]());

/** The cache of 8 full slots has 384 MB; one that holds 2,047 tokens each has 24. */
const fullMegabytes = 384;

/** In MB. A ready engine has a process. */
function memory(): number {
  const text = readFileSync(`/proc/${started.engine.pid as number}/smaps_rollup`, "utf8");
  return Number(/^Rss:\s+(\d+)/m.exec(text)?.[1]) / 1024;
}

const hasProc = process.platform === "linux";
const long = (words: number, members: Ask = {}): Ask => ({
  say: `The word is vault.${" gas".repeat(words)}`,
  max_tokens: 2,
  ...members,
});
const talk = (seed: string, max_tokens: number): Ask => ({
  seed,
  max_tokens,
  sampling: { temperature: 1.2, logit_bias: endless },
});

describe.skipIf(!hasProc)("memory (read from /proc, so on Linux)", () => {
  test(
    "is small at rest, grows for a long prompt, and goes back when no request has come for some time",
    async () => {
      const atRest = memory();
      expect(atRest).toBeLessThan(fullMegabytes);
      await ask(started.engine, long(9000), AbortSignal.timeout(patienceMs));
      const grown = memory();
      expect(grown - atRest).toBeGreaterThan(fullMegabytes / 2);
      await until("memory went back", () => memory() < atRest + fullMegabytes / 4);
      expect((await readdir(started.runFolder)).filter((name) => name.endsWith(".sequence"))).toEqual([]);
    },
    patienceMs,
  );
});

describe("while the memory grows", () => {
  test(
    "a seed gives the text that it gives when the memory is large, in that slot and in others",
    { timeout: patienceMs },
    async () => {
      const first = talk("1", 400);
      // Needs more in the middle of its answer.
      const second = { ...long(1950), ...talk("2", 200) };
      const textOf = async (members: Ask): Promise<string> =>
        (await askOne(started.engine, members, AbortSignal.timeout(patienceMs))).text;
      const growing = await Promise.all([textOf(first), textOf(second)]);
      expect(await Promise.all([textOf(first), textOf(second)])).toEqual(growing);
      expect([await textOf(first), await textOf(second)]).toEqual(growing);
    },
  );

  test("a request that hangs up costs no slot", { timeout: patienceMs }, async () => {
    for (const ms of [5, 20, 60, 150]) {
      await ask(started.engine, long(9000, { n: 2 }), AbortSignal.timeout(ms)).catch(() => undefined);
    }
    const { choices } = await ask(started.engine, { n: 8, max_tokens: 3 });
    expect(choices.every((choice) => choice.finish !== undefined)).toBe(true);
    expect(started.engine.gauges()).toMatchObject({ running: 0, restarts: 0 });
  });
});
