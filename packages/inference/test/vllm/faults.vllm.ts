import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EngineError } from "../../src/index.ts";
import { requestFor } from "../requests.ts";
import { isAlive, until } from "../until.ts";
import { startVllm, testTimings } from "./start-vllm.ts";
import type { StartedVllm } from "./start-vllm.ts";

/** A row of the table that these tests print: what was done, how the streams ended, how long until the next token. */
interface Row {
  readonly fault: string;
  readonly noticedMs: number;
  readonly recoveredMs: number;
  readonly finished: number;
  readonly failed: number;
}

const table: Row[] = [];
/** Longer than any fault takes to happen. */
const longAnswer = requestFor({ max_tokens: 3000, sampling: { logit_bias: { "2039": -100, "2041": -100 } } });
const shortAnswer = requestFor({ max_tokens: 12 });
const recoveryMs = 240_000;

let started: StartedVllm;
/** What the engine says while nothing is wrong with it. */
let reference = "";

beforeAll(async () => {
  started = startVllm();
  await started.vllm.engine.whenReady();
  reference = (await outcomeOf(shortAnswer)).text;
});
afterAll(async () => {
  await started[Symbol.asyncDispose]();
  console.table(table);
});

interface Outcome {
  readonly text: string;
  readonly tokens: number;
  readonly end: string;
}

async function outcomeOf(request: ReturnType<typeof requestFor>): Promise<Outcome> {
  let text = "";
  let tokens = 0;
  let end = "nothing";
  try {
    for await (const event of started.vllm.engine.stream(request, AbortSignal.timeout(recoveryMs))) {
      tokens = event.usage.completion_tokens;
      if (event.kind === "text") text += event.text;
      if (event.kind === "finish") end = event.reason;
    }
  } catch (error) {
    end = error instanceof EngineError ? error.kind : String(error);
  }
  return { text, tokens, end };
}

interface ProcessRow {
  readonly pid: number;
  readonly name: string;
}

/** The living processes of the engine's group. */
function processes(group: number): ProcessRow[] {
  const lines = execFileSync("ps", ["-eo", "pid=,pgid=,stat=,comm="], { encoding: "utf8" }).trim().split("\n");
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, pgid, stat = ""]) => Number(pgid) === group && !stat.startsWith("Z"))
    .map(([pid = "", , , ...name]) => ({ pid: Number(pid), name: name.join(" ") }));
}

function pidOf(part: "api" | "core" | "worker"): number {
  const group = started.vllm.pid ?? 0;
  const name = { api: "vllm", core: "VLLM::EngineCor", worker: "VLLM::Worker" }[part];
  const found = processes(group).find((one) => one.name.startsWith(name));
  return found?.pid ?? group;
}

/** Streams run, the fault happens, and then the engine has to come back by itself. */
async function survive(fault: string, act: () => void, streams = 6, request = longAnswer): Promise<readonly Outcome[]> {
  const { engine } = started.vllm;
  await engine.whenReady();
  const restarts = engine.gauges().restarts;
  const open = Array.from({ length: streams }, () => outcomeOf(request));
  await until("the streams run", () => engine.gauges().running === streams);
  await until("tokens come", async () => (await outcomeOf(shortAnswer)).tokens > 0);
  const actedAt = performance.now();
  const group = started.vllm.pid ?? 0;
  act();
  await until("it is noticed", () => engine.state !== "ready", recoveryMs);
  const noticedMs = performance.now() - actedAt;
  const outcomes = await Promise.all(open);
  expect(processes(group)).toEqual([]);
  expect(sharedSegments()).toEqual(before);
  await engine.whenReady();
  const answer = await outcomeOf(shortAnswer);
  const recoveredMs = performance.now() - actedAt;
  expect([answer.text, answer.end]).toEqual([reference, "length"]);
  expect(engine.gauges()).toMatchObject({ restarts: restarts + 1, running: 0 });
  const finished = outcomes.filter(({ end }) => end === "length").length;
  table.push({
    fault,
    noticedMs: Math.round(noticedMs),
    recoveredMs: Math.round(recoveredMs),
    finished,
    failed: outcomes.length - finished,
  });
  return outcomes;
}

/** Either all that was asked for, or a failure that says so: nothing in between. */
function assertHonest(outcomes: readonly Outcome[], wanted = longAnswer.max_tokens): void {
  for (const { end, tokens } of outcomes) expect(end === "length" ? tokens === wanted : end === "crashed").toBe(true);
}

describe("an engine that fails under load comes back, and every stream tells the truth", () => {
  test.each([
    ["SIGKILL of the API process", "api", "SIGKILL"],
    ["SIGKILL of the engine core", "core", "SIGKILL"],
    ["SIGKILL of the worker", "worker", "SIGKILL"],
  ] as const)("%s", async (fault, part, signal) => {
    const outcomes = await survive(fault, () => process.kill(pidOf(part), signal));
    assertHonest(outcomes);
    expect(outcomes.some(({ end }) => end === "crashed")).toBe(true);
  });

  test("SIGSTOP of the engine core is noticed within the stated time", async () => {
    const outcomes = await survive("SIGSTOP of the engine core (frozen)", () => process.kill(pidOf("core"), "SIGSTOP"));
    assertHonest(outcomes);
    const { stallMs, watchEveryMs } = testTimings;
    expect(table.at(-1)?.noticedMs).toBeLessThan(stallMs + 3 * watchEveryMs + 5000);
  });

  test("SIGTERM by somebody else while streams run: they finish, or say that they did not", async () => {
    const outcomes = await survive("SIGTERM while 20 streams run", () => process.kill(pidOf("api"), "SIGTERM"), 20, {
      ...longAnswer,
      max_tokens: 300,
    });
    assertHonest(outcomes, 300);
  });
});

/** Shared memory and semaphores: what was there before these tests is somebody else's. */
const sharedSegments = (): string[] =>
  existsSync("/dev/shm") ? readdirSync("/dev/shm").filter((name) => /^(psm_|sem\.mp-)/.test(name)) : [];
const before = sharedSegments();

describe("draining", () => {
  test("lets streams under way finish, takes nothing new, and leaves nothing behind", async () => {
    const { engine } = started.vllm;
    const group = started.vllm.pid ?? 0;
    const running = outcomeOf({ ...longAnswer, max_tokens: 400 });
    await until("it runs", () => engine.gauges().running === 1);
    const closing = engine.close(60_000);
    expect(engine.state).toBe("draining");
    expect((await outcomeOf(shortAnswer)).end).toBe("unavailable");
    expect((await running).end).toBe("length");
    await closing;
    expect([engine.state, isAlive(group), processes(group)]).toEqual(["stopped", false, []]);
    expect([existsSync(started.vllm.socketPath), sharedSegments()]).toEqual([false, before]);
  });
});
