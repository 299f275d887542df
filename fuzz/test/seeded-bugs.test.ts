import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findShallows, readFloors } from "../depth.ts";
import { MissingProgramError, prepareSchemathesis } from "../python.ts";
import { addRecord, newTally } from "../record.ts";
import type { Tally } from "../record.ts";
import { runSchemathesis } from "../run.ts";
import type { Run } from "../run.ts";
import { startTarget } from "../target.ts";
import type { RunningTarget } from "../target.ts";
import { startMutatingProxy } from "./mutating-proxy.ts";
import { adminBugs, seededBugs } from "./seeded-bugs.ts";

const program = await prepareSchemathesis().catch((error: unknown) => {
  if (error instanceof MissingProgramError) return undefined;
  throw error;
});

describe.skipIf(program === undefined)("the fuzzer (it takes Python 3.11)", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-fuzz-test-"));
  let target: RunningTarget;
  beforeAll(async () => {
    target = await startTarget("scripted");
  });
  afterAll(async () => {
    await target[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  async function fuzz(
    name: string,
    url: string,
    run: Partial<Run>,
    subject = target,
  ): Promise<{ exitCode: number; tally: Tally }> {
    const record = join(folder, `${name}.ndjson`);
    const files = { record, log: join(folder, `${name}.log`) };
    const all: Run = { source: "grammar", cases: 120, seed: 1, ...files, ...run };
    const exitCode = await runSchemathesis(program ?? "schemathesis", { ...subject, url }, all);
    const tally = newTally();
    await addRecord(tally, record);
    return { exitCode, tally };
  }

  test("finds nothing in the server, seen through a proxy that changes nothing", async () => {
    await using proxy = await startMutatingProxy(target.url, {});
    const { exitCode, tally } = await fuzz("honest", proxy.url, {});
    expect(tally.failures).toEqual([]);
    expect(exitCode).toBe(0);
    expect(tally.answers).toBe(120);
  }, 120_000);

  test.each(seededBugs)(
    "finds $title, by the check $check",
    async ({ title, check, cases, ...mutation }) => {
      await using proxy = await startMutatingProxy(target.url, mutation);
      const { exitCode, tally } = await fuzz(title.replaceAll(" ", "-"), proxy.url, { cases, maxFailures: 1 });
      expect(exitCode).not.toBe(0);
      expect(tally.failures.map(({ failure }) => failure.check)).toContain(check);
    },
    120_000,
  );

  test("finds each seeded bug of the admin API", async () => {
    await using admin = await startTarget("admin");
    for (const { title, check, cases, ...mutation } of adminBugs) {
      await using proxy = await startMutatingProxy(admin.url, mutation);
      const run = { source: "admin", cases, maxFailures: 1 } as const;
      const { exitCode, tally } = await fuzz(title.replaceAll(" ", "-"), proxy.url, run, admin);
      const checks = tally.failures.map(({ failure }) => failure.check);
      expect({ title, exitCode, checks }).toEqual({ title, exitCode: 1, checks: expect.arrayContaining([check]) });
    }
  }, 120_000);

  test("that stays shallow finds nothing, and the meter says so", async () => {
    const { exitCode, tally } = await fuzz("shallow", target.url, { source: "schema", cases: 30, isShallow: true });
    expect(exitCode).toBe(0);
    expect(tally.failures).toEqual([]);
    expect(findShallows(tally, { ...readFloors().scripted, answers: 100 })).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^share of requests taken: 0/),
        "the member tool_choice.function.name was never taken",
        "createChatCompletion never answered 502",
      ]),
    );
  }, 120_000);
});
