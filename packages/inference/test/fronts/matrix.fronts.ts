import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { settlesWithin } from "@parley/common/settles-within";
import { examineFront } from "../../src/examine-front/examine-front.ts";
import type { Engine } from "../../src/index.ts";
import { fronts } from "../../src/openai/fronts.ts";
import { knownFronts, settingsOf, workerKinds } from "../../testing/fronts/known-fronts.ts";
import type { KnownFront } from "../../testing/fronts/known-fronts.ts";
import {
  measureFull,
  measureKill,
  measureNarrow,
  measureRealFull,
  measureSpread,
  measureTurns,
} from "../../testing/fronts/measure-front.ts";
import { openStandIns, openWorkersOf } from "../../testing/fronts/open-workers.ts";
import type { FrontWorkers, StandIns } from "../../testing/fronts/open-workers.ts";
import { missingOf, startFront } from "../../testing/fronts/start-front.ts";
import type { StartedFront } from "../../testing/fronts/start-front.ts";
import { neverEnding, noBlanks, startElsewhere, testTimings } from "../../testing/vllm/start-vllm.ts";
import { testEngineContract } from "../engine-contract.ts";

/**
 * Runs real fronts over two workers. By default, the cheap ones with a policy that keeps conversations, over stand-ins.
 * `report:fronts` chooses with PARLEY_TEST_FRONTS (names, or NAME:POLICY), PARLEY_TEST_WORKERS and PARLEY_TEST_FRONTS_INTO.
 */
const { PARLEY_TEST_FRONTS: wanted, PARLEY_TEST_WORKERS = "stand-in", PARLEY_TEST_FRONTS_INTO: into } = process.env;
const kind = workerKinds.find((one) => one === PARLEY_TEST_WORKERS) ?? "stand-in";

const isWanted = ({ name, holding, isCheap }: KnownFront, policy: string): boolean =>
  wanted === undefined
    ? isCheap && policy === holding[0]
    : wanted.split(",").some((one) => one === name || one === `${name}:${policy}`);

const readyLimitMs = 30_000;

type Row = { [member: string]: unknown };

const workersOf = ({ hasOwnWorkers, whole }: KnownFront): string =>
  whole || kind === "vllm" ? "vllm" : hasOwnWorkers === true ? "mocker" : kind;

/** Names the workers that fit a front. */
function needsOf(front: KnownFront, policy: string): string {
  const { protocol, onlyModel, whole, program, hasOwnWorkers } = front;
  const started = whole && [whole.program.variable, program ? "" : policy];
  return [protocol, onlyModel, hasOwnWorkers, ...(started ?? [workersOf(front)])].join();
}

const rows = knownFronts.flatMap((front) =>
  Object.keys(front.policies)
    .filter((policy) => isWanted(front, policy))
    .map((policy) => ({
      front,
      policy,
      needs: needsOf(front, policy),
      isHolding: front.holding.includes(policy),
      missing: missingOf(front),
    })),
);

/** Rows with the same workers run one after the other, and only the last of them may kill a worker. */
const ordered = rows
  .filter(({ missing }) => missing === undefined)
  .toSorted((a, b) => Number(a.isHolding) - Number(b.isHolding))
  .toSorted((a, b) => a.needs.localeCompare(b.needs))
  .map((row, index, all) => ({ ...row, isLast: all[index + 1]?.needs !== row.needs }));

let open: { readonly needs: string; readonly places: FrontWorkers } | undefined;

/** A real vLLM takes a minute to start, so rows with the same needs share two of them until one is killed. */
async function takeWorkers(front: KnownFront, policy: string): Promise<FrontWorkers> {
  const needs = needsOf(front, policy);
  if (open?.needs === needs) return open.places;
  await closeWorkers();
  open = { needs, places: await openWorkersOf(front, kind, front.policies[policy] ?? []) };
  return open.places;
}

async function closeWorkers(): Promise<void> {
  const places = open?.places;
  open = undefined;
  await places?.[Symbol.asyncDispose]();
}

afterAll(closeWorkers);

for (const { front, missing } of rows.filter((row) => row.missing !== undefined))
  console.warn(`${front.name} was not run: ${missing}`);

describe.each(ordered)("$front.name with $policy", ({ front, policy, isHolding, isLast }) => {
  const more = front.policies[policy] ?? [];
  const workers = workersOf(front);
  const row: Row = {};
  let places: FrontWorkers;
  let running: StartedFront;
  // Undefined while the model is not ready.
  let engine: (Engine & AsyncDisposable) | undefined;
  beforeAll(async () => {
    places = await takeWorkers(front, policy);
    if (places.vllm !== undefined) row["vllm"] = places.vllm;
    running = await startOver(front, places, more);
    try {
      engine = await openEngine(front, running);
    } catch (error) {
      row["failed"] = String(error);
    }
  });
  afterAll(async () => {
    write(front, policy, row);
    await engine?.[Symbol.asyncDispose]();
    await running?.[Symbol.asyncDispose]();
    if (workers !== "vllm" || row["killed"] !== undefined) await closeWorkers();
  });

  // Stand-ins do not compute answers, so they cannot keep the contract.
  if (workers === "vllm") describeContract(front, row, () => openEngine(front, running));

  test("a model behind it becomes ready", () => {
    if (isHolding) expect(row).not.toHaveProperty("failed");
    else expect(running.urls).not.toEqual([]);
  });
  test("the second turn of a conversation meets the cache of the first", async ({ skip }) => {
    if (!engine) return skip("the model is not ready");
    const cachedShare = (row["cachedShare"] = await measureTurns(engine, places, running.urls));
    expect(cachedShare).toBeGreaterThanOrEqual(isHolding ? 0.9 : 0);
  });
  test("200 conversations keep both workers busy", async ({ skip }) => {
    if (!engine) return skip("the model is not ready");
    const busiest = (row["busiest"] = await measureSpread(engine, places));
    expect(busiest).toBeLessThanOrEqual(isHolding ? 1.5 : 2);
  });
  test.runIf(workers === "vllm")(
    "engine doctor --front finds no problem in a policy that keeps conversations",
    async ({ skip }) => {
      if (!engine) return skip("the model is not ready");
      const { protocol } = front;
      const { advice } = fronts[front.front];
      // The workers that one program starts have no addresses of their own.
      const engines = front.whole ? [] : [...new Set(places.workers.map(({ url }) => url))];
      const findings = await examineFront("front", engine, { advice, patienceMs: 60_000, protocol, engines });
      row["doctor"] = findings;
      const problems = findings.filter(({ problem }) => problem !== "");
      expect(isHolding ? problems : []).toEqual([]);
    },
  );
  test.runIf(front.whole)("vLLM that is full is reported as busy", async ({ skip }) => {
    if (!engine) return skip("the model is not ready");
    const full = (row["full"] = await measureRealFull(engine));
    expect(full.refused).toBeGreaterThan(0);
    // Ray turns some of vLLM's refusals into a 500. The row shows it.
    expect(full.as).toContain("unavailable");
  });
  // A kill costs the other rows a start of vLLM, so it is tried with policies that may be chosen, and with the last one.
  // Dynamo drops `logit_bias`, so the model ends its answers before a worker can be killed.
  const isEndless = workers !== "vllm" || front.hasOwnWorkers !== true;
  const isKilled = isEndless && (workers !== "vllm" || isHolding || isLast);
  test.runIf(isKilled)(
    "an answer of a worker that is killed ends with an error, and the other worker answers",
    async ({ skip }) => {
      if (!engine) return skip("the model is not ready");
      const killed = (row["killed"] = await measureKill(engine, places));
      expect(killed.broken).toBeGreaterThan(0);
      // An answer whose worker died never ends clean, whatever the front does.
      for (const end of killed.ended) expect(end).toMatch(/^(crashed|unavailable|protocol|stalled)$/);
    },
  );

  const withStandIns = async <T>(
    args: readonly string[],
    measure: (engine: Engine, places: StandIns) => Promise<T>,
  ): Promise<T> => {
    await using standIns = await openStandIns(front);
    await using own = await startOver(front, standIns, [...more, ...args]);
    await using asking = await openEngine(front, own);
    return await measure(asking, standIns);
  };
  test.runIf(workers === "stand-in")("workers that are full are reported as busy", async ({ skip }) => {
    if (!engine) return skip("the model is not ready");
    const full = (row["full"] = await withStandIns([], measureFull));
    expect(full.refused).toBeGreaterThan(0);
    if (isHolding) expect(full.as).toEqual(["unavailable"]);
  });
  const narrow = front.program?.narrow;
  test.runIf(workers === "stand-in" && narrow !== undefined)(
    "a front that is full is reported as busy",
    async ({ skip }) => {
      if (!engine) return skip("the model is not ready");
      const refusals = (row["narrow"] = await withStandIns(narrow ?? [], measureNarrow));
      expect(refusals.refused).toBeGreaterThan(0);
      if (isHolding) expect(refusals.as).toEqual(["unavailable"]);
    },
  );
});

/** Counts the cases that pass. */
function describeContract(
  front: KnownFront,
  row: Record<string, unknown>,
  start: () => Promise<Engine & AsyncDisposable>,
) {
  describe("the contract", () => {
    const contract = { passed: 0, failed: [] as string[] };
    beforeAll(() => {
      expect(row, "the model is ready").not.toHaveProperty("failed");
      row["contract"] = contract;
    });
    afterEach(({ task }) => {
      if (task.result?.state === "fail") contract.failed.push(task.name);
      else contract.passed += 1;
    });
    const bias = front.protocol === "chat" ? { ...neverEnding, ...noBlanks } : neverEnding;
    testEngineContract({
      title: front.name,
      start,
      talkative: ({ sampling, ...members }) => ({ ...members, sampling: { ...sampling, logit_bias: bias } }),
    });
  });
}

/** Starts a front over these workers. */
function startOver(
  front: KnownFront,
  { workers, environment = {} }: FrontWorkers,
  more: readonly string[],
): Promise<StartedFront> {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const urls = workers.map(({ url }) => url);
  return startFront(front, urls, more, { wrapper: variables.length > 0 ? ["env", ...variables] : [] });
}

/** @throws an error with the reason, if it is not ready in time */
async function openEngine(front: KnownFront, { urls }: StartedFront): Promise<Engine & AsyncDisposable> {
  let reason = "";
  const engine = startElsewhere(urls, {
    ...settingsOf(front),
    timings: { ...testTimings, stallMs: 20_000 },
    report: ({ detail }) => void (reason = detail),
  });
  const isReady = await settlesWithin(engine.whenReady(), readyLimitMs);
  if (isReady) return Object.assign(engine, { [Symbol.asyncDispose]: () => engine.close(0) });
  const why = reason;
  await engine.close(0);
  throw new Error(why);
}

function write(known: KnownFront, policy: string, measured: object): void {
  const { name, version, front, protocol } = known;
  const workers = workersOf(known);
  const row = { name, version, policy, front, protocol, workers, ...measured };
  process.stdout.write(`${JSON.stringify(row)}\n`);
  if (into === undefined) return;
  mkdirSync(into, { recursive: true });
  writeFileSync(join(into, `${name}-${policy}-${workers}.json`), `${JSON.stringify(row, undefined, 2)}\n`);
}
