import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { until } from "@parley/inference/testing";
import { addFault, outcomeOf } from "@parley/inference/testing/vllm";
import type { LedgerRow } from "@parley/server/testing";
import type { Completion } from "../../src/chat/relay/collect.ts";
import { miniId } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { engineOf, longAnswer, otherAnswer, shortAnswer } from "./service.ts";
import type { Counters, Service } from "./service.ts";
import { watchStream } from "./watch-stream.ts";
import type { Seen } from "./watch-stream.ts";

export interface Fault {
  readonly name: string;
  readonly driver: string;
  act(service: Service): void | Promise<void>;
  /** Repairs the cause when the streams have ended, if the service cannot do so itself. */
  heal?(service: Service): void | Promise<void>;
  readonly streams?: number;
  /** The number of tokens of each stream. */
  readonly tokens?: number;
  /** Maximum time until the fault is noticed, in milliseconds. */
  readonly noticedWithinMs?: number;
}

/** The answers of both models without a fault. */
export interface Reference {
  readonly mini: string;
  readonly other: string;
  readonly long: string;
  readonly fingerprint: string;
}

const patienceMs = 240_000;

export async function takeReference({ server }: Service): Promise<Reference> {
  const textOf = async (members: object): Promise<string> =>
    (await server.complete({ ...members })).choices[0]?.message.content ?? "";
  const { system_fingerprint: fingerprint } = await server.complete(shortAnswer);
  const long = await textOf({ ...longAnswer, max_completion_tokens: 24 });
  return { mini: await textOf(shortAnswer), other: await textOf(otherAnswer), long, fingerprint };
}

/**
 * Causes a fault while streams run, and waits until the service has recovered. Checks the three promises: honest streams,
 * correct counts and the right model.
 */
export async function survive(service: Service, fault: Fault, reference: Reference): Promise<readonly Seen[]> {
  const { server } = service;
  const members = { ...longAnswer, max_completion_tokens: fault.tokens ?? longAnswer.max_completion_tokens };
  const open = Array.from({ length: fault.streams ?? 6 }, () => watchStream(server, members));
  const tokensCome = until("tokens come on every stream", () => open.every(({ tokens }) => tokens > 8), 60_000);
  // The engine has not failed yet.
  const complain = ({ end, text }: Seen): never => {
    const tokens = open.map((stream) => stream.tokens).join(", ");
    throw new Error(`a stream ended too early: ${end}, with ${tokens} tokens on the streams: ${text.slice(0, 80)} …`);
  };
  await Promise.race([tokensCome, ...open.map(({ seen }) => seen.then(complain))]);
  const actedAt = performance.now();
  await fault.act(service);
  await until("it is noticed", () => engineOf(service).state !== "ready", patienceMs);
  const noticedMs = performance.now() - actedAt;
  expect(await askOther(service)).toBe(reference.other);
  const seen = await Promise.all(open.map((stream) => stream.seen));
  await fault.heal?.(service);
  await untilAnswered(server);
  const recoveredMs = performance.now() - actedAt;
  const whole = seen.filter(({ end }) => end === "whole").length;
  addFault({ driver: fault.driver, fault: fault.name, outcome: outcomeOf(seen.length, whole), noticedMs, recoveredMs });
  assertHonest(seen, members.max_completion_tokens);
  assertRightModel(seen, reference);
  assertDelivered(seen, await server.ledger(), members.max_completion_tokens);
  await assertCounted(service, reference);
  expect(noticedMs).toBeLessThan(fault.noticedWithinMs ?? patienceMs);
  return seen;
}

/** Asks the other model, which the fault must not affect. */
async function askOther(service: Service): Promise<string> {
  const response = await service.server.chat(otherAnswer);
  const text = await response.text();
  if (response.status !== 200) {
    const events = service.server.logLines.filter((line) => line.includes('"state"')).slice(-20);
    throw new Error(`the other model answers ${response.status}: ${text}\n${events.join("\n")}`);
  }
  const { choices } = JSON.parse(text) as Completion; // judged already
  return choices[0]?.message.content ?? "";
}

/** Waits until requests are answered again. Until then, they must fail with 502 or 503. */
export async function untilAnswered(server: TestServer): Promise<void> {
  const end = Date.now() + patienceMs;
  for (;;) {
    const response = await server.chat(shortAnswer);
    if (response.status === 200) return;
    expect([502, 503]).toContain(response.status);
    await response.body?.cancel();
    if (Date.now() > end) throw new Error(`not answered within ${patienceMs} ms`);
    await wait(100);
  }
}

/** Asserts that a stream ends as whole only if it has all tokens, and with a visible failure otherwise. */
export function assertHonest(seen: readonly Seen[], wanted: number): void {
  for (const { end, tokens } of seen) {
    expect(["whole", "error", "reset"]).toContain(end);
    if (end === "whole") expect(tokens).toBe(wanted);
  }
}

/** Asserts that every stream comes from the right model, by its name, its fingerprint and its text. */
export function assertRightModel(seen: readonly Seen[], { long, fingerprint }: Reference): void {
  for (const { models, fingerprints, text } of seen) {
    expect([...models]).toEqual([miniId]);
    expect([...fingerprints]).toEqual([fingerprint]);
    expect(text.slice(0, long.length)).toBe(long.slice(0, text.length));
  }
}

/**
 * Asserts that the ledger has at least the tokens that arrived, and at most those that were asked for. The dead engine cannot
 * tell more.
 */
export function assertDelivered(seen: readonly Seen[], ledger: readonly LedgerRow[], wanted: number): void {
  const rows = new Map(ledger.map((row) => [row.id, row]));
  for (const { id, tokens, end } of seen) {
    const row = rows.get(id);
    expect(row?.outcome).toBe(end === "whole" ? "complete" : "failed");
    expect(row?.completion_tokens).toBeGreaterThanOrEqual(tokens);
    expect(row?.completion_tokens).toBeLessThanOrEqual(wanted);
  }
}

/** Asserts that the service and the restarted engine count the same tokens. */
export async function assertCounted({ server, counters }: Service, reference: Reference): Promise<void> {
  const before = { engine: await counters(), ledger: await sumOf(server) };
  const questions = ["What is MEV?", "What is a blockchain?", "What is a DAO?", "What is gas?"];
  const ask = (content: string): Promise<unknown> =>
    server.complete({ ...shortAnswer, max_completion_tokens: 40, messages: [{ role: "user", content }] });
  await Promise.all(questions.map(ask));
  expect((await server.complete(shortAnswer)).choices[0]?.message.content).toBe(reference.mini);
  const after = await sumOf(server);
  const wanted = {
    prompt: after.prompt - before.ledger.prompt,
    completion: after.completion - before.ledger.completion,
  };
  const told = async (): Promise<Counters> => {
    const { prompt, completion } = await counters();
    return { prompt: prompt - before.engine.prompt, completion: completion - before.engine.completion };
  };
  // The engine updates its counters within a second.
  await until("the engine has counted", async () => (await told()).completion >= wanted.completion);
  expect(await told()).toEqual(wanted);
}

async function sumOf(server: TestServer): Promise<Counters> {
  const rows = (await server.ledger()).filter(({ model }) => model === miniId);
  return {
    prompt: rows.reduce((sum, row) => sum + row.prompt_tokens, 0),
    completion: rows.reduce((sum, row) => sum + row.completion_tokens, 0),
  };
}
