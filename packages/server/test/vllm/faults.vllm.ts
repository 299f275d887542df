import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "@parley/inference/testing";
import { faultTable, isWhole, pidOf, processesOf, sharedSegments } from "@parley/inference/testing/vllm";
import { engineOf, longAnswer, recordOf, shortAnswer, startService } from "./service.ts";
import type { Service } from "./service.ts";
import { survive, takeReference } from "./survive.ts";
import type { Fault, Reference } from "./survive.ts";
import { watchStream } from "./watch-stream.ts";

/** Faults of a real vLLM that Parley supervises as a process, as the service's callers see them. */

/** Somebody else's. */
const before = sharedSegments();
let service: Service;
let reference: Reference;

beforeAll(async () => {
  service = await startService({ mini: { engine: "vllm-process" } });
  reference = await takeReference(service);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  faultTable.print();
});

const groupOf = ({ server }: Service): number => recordOf(server.dataDir).group;

const signal = (part: Parameters<typeof pidOf>[1], name: NodeJS.Signals): Fault["act"] => {
  return (one) => void process.kill(pidOf(groupOf(one), part), name);
};

const driver = "process";
/** A short run tries only the first one. */
const faults: readonly Fault[] = [
  { driver, name: "SIGKILL of the engine core", act: signal("core", "SIGKILL") },
  { driver, name: "SIGKILL of the API process", act: signal("api", "SIGKILL") },
  { driver, name: "SIGKILL of the worker", act: signal("worker", "SIGKILL") },
  // This test sets the stall to 10 s (default: 30 s), and it is checked every second.
  { driver, name: "SIGSTOP of the engine core (frozen)", act: signal("core", "SIGSTOP"), noticedWithinMs: 18_000 },
  { driver, name: "SIGTERM while 20 streams run", act: signal("api", "SIGTERM"), streams: 20, tokens: 300 },
];

describe("an engine that fails under load comes back, and every stream tells the truth", () => {
  test.each(isWhole ? faults : faults.slice(0, 1))("$name", async (fault) => {
    await engineOf(service).whenReady();
    const group = groupOf(service);
    const restarts = engineOf(service).gauges().restarts;
    const seen = await survive(service, fault, reference);
    if (!fault.name.startsWith("SIGTERM")) expect(seen.some(({ end }) => end !== "whole")).toBe(true);
    expect(processesOf(group)).toEqual([]);
    expect(engineOf(service).gauges()).toMatchObject({ restarts: restarts + 1, running: 0 });
  });
});

test("draining: running requests finish, no new ones are accepted, nothing is left behind", async () => {
  const { server } = service;
  await engineOf(service).whenReady();
  const group = groupOf(service);
  const socketPath = service.socketPath();
  const open = watchStream(server, { ...longAnswer, max_completion_tokens: 400 });
  await until("tokens come", () => open.tokens > 8);
  const closing = server.running.close();
  const late = await server.chat(shortAnswer).then(({ status }) => String(status), String);
  expect(late).toMatch(/^503$|fetch failed/u);
  expect(await open.seen).toMatchObject({ end: "whole", tokens: 400 });
  await closing;
  expect([processesOf(group), existsSync(socketPath), sharedSegments()]).toEqual([[], false, before]);
});
