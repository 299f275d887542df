import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EngineFiles } from "@parley/inference/vllm";
import { isAlive, until } from "@parley/inference/testing";
import {
  addFault,
  faultTable,
  installFolder,
  outcomeOf,
  processesOf,
  sharedSegments,
} from "@parley/inference/testing/vllm";
import { CliProcess, chatInit, miniId, readLedger } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { longAnswer, readCounters, recordOf, shortAnswer } from "./service.ts";
import { assertHonest } from "./survive.ts";
import { watchStream } from "./watch-stream.ts";

/** The server itself is killed with SIGKILL while a real vLLM works for it, and then started again. */

/** Somebody else's. */
const before = sharedSegments();
const key = "environment-key-0123456789";
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-death-"));
  const models = { "model-1": { engine: "embedded" }, "model-1-mini": { slots: 32, cores: "0" } };
  writeFileSync(join(folder, "parley.yaml"), JSON.stringify({ models }));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  faultTable.print();
});

interface Program extends AsyncDisposable {
  readonly process: CliProcess;
  readonly chat: TestServer["chat"];
}

async function start(): Promise<Program> {
  const env = {
    PARLEY_ENGINE: "vllm-process",
    PARLEY_VLLM: installFolder,
    PARLEY_KV_MEMORY_MB: "256",
    PARLEY_DATA_DIR: folder,
    PARLEY_API_KEY: key,
    PARLEY_METRICS_PORT: "off",
    PORT: "0",
  };
  const process = new CliProcess(["start"], { cwd: folder, env });
  const [, baseUrl = ""] = await process.says(/Base URL\s+(\S+)/, 240_000);
  const isReady = async (): Promise<boolean> => (await fetch(new URL(`/ready?model=${miniId}`, baseUrl))).ok;
  await until("the model is ready", isReady, 240_000);
  const chat: TestServer["chat"] = (members) =>
    fetch(`${baseUrl}/chat/completions`, chatInit(members, { headers: { authorization: `Bearer ${key}` } }));
  return { process, chat, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() };
}

test("our own process killed with -9: streams break, orphans are found and ended, the ledger keeps what was used", async () => {
  await using first = await start();
  const reference = await (await first.chat(shortAnswer)).json();
  const open = Array.from({ length: 6 }, () => watchStream(first, longAnswer));
  await until("tokens come on every stream", () => open.every(({ tokens }) => tokens > 100), 60_000);
  const { group, folder: engineFolder } = recordOf(folder);
  const actedAt = performance.now();
  first.process.child.kill("SIGKILL");
  const seen = await Promise.all(open.map((stream) => stream.seen));
  const made = (await readCounters(join(engineFolder, "api"))).completion;
  const [orphans, shared] = [processesOf(group), sharedSegments().filter((name) => !before.includes(name))];
  expect([isAlive(group), orphans.length > 1]).toEqual([true, true]);

  await using next = await start();
  const answer = await (await next.chat(shortAnswer)).json();
  const recoveredMs = performance.now() - actedAt;
  const outcome = outcomeOf(seen.length, 0);
  addFault({ driver: "process", fault: "our own process killed with -9", outcome, noticedMs: 0, recoveredMs });
  assertHonest(seen, longAnswer.max_completion_tokens);
  expect(new Set(seen.map(({ end }) => end))).toEqual(new Set(["reset"]));
  expect(answer).toMatchObject({ model: miniId, choices: (reference as { choices: object[] }).choices });
  expect(orphans.filter(({ pid }) => isAlive(pid))).toEqual([]);
  expect(sharedSegments().filter((name) => shared.includes(name))).toEqual([]);
  const log = new EngineFiles(join(folder, "engines"), miniId).lastLines(2000);
  expect(log).toMatch(/cleared what an earlier run had left: process \d+, process \d+/);
  // Running requests are checkpointed ten times per second, so the ledger may lag behind by the tokens of one interval.
  const rows = (await readLedger(folder)).filter(({ id }) => seen.some((one) => one.id === id));
  expect(rows.map(({ outcome }) => outcome)).toEqual(seen.map(() => "abandoned"));
  const booked = rows.reduce((sum, row) => sum + row.completion_tokens, 0);
  const arrived = seen.reduce((sum, { tokens }) => sum + tokens, 0);
  console.log(`booked ${booked}, arrived ${arrived}, made by the engine since its start ${made}`);
  expect(Math.min(...rows.map((row) => row.completion_tokens))).toBeGreaterThan(0);
  expect(booked).toBeGreaterThan(arrived / 2);
  expect(booked).toBeLessThanOrEqual(made);
  // SIGTERM, so the server ends its engine, too.
  next.process.child.kill("SIGTERM");
  expect((await next.process.result()).code).toBe(0);
});
