import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { EngineError } from "../../src/index.ts";
import type { Engine } from "../../src/index.ts";
import { ask, requestFor, stream } from "../requests.ts";
import type { Ask } from "../requests.ts";
import { neverEnding } from "../vllm/start-vllm.ts";
import type { FrontWorkers, StandIns } from "./open-workers.ts";

/** Everything that is measured of a front with one policy. */
export interface Measured {
  /** The cached share of the full blocks that a first turn left, when the second one is sent; wanted: at least 0.9. */
  readonly cachedShare: number;
  /** The requests of the busier worker with 200 different conversations, relative to the mean; wanted: at most 1.5. */
  readonly busiest: number;
  readonly killed: Killed;
}

export interface Killed {
  /** How the answers of the dead worker ended: kinds of `EngineError`, or `complete`. */
  readonly ended: readonly string[];
  /** The number of answers that it was giving. */
  readonly broken: number;
  /** Later requests that failed, before ten in a row were answered. */
  readonly failures: number;
  /** Seconds from the kill to the last of these failures. */
  readonly seconds: number;
}

export interface Refusals {
  readonly refused: number;
  readonly of: number;
  /** The kinds of `EngineError`; `unavailable` is a 503 with `Retry-After` for the caller. */
  readonly as: readonly string[];
  /** The cause of the first one of another kind than "unavailable". Absent: there is none. */
  readonly cause?: string;
  /** The `Retry-After` of the front in seconds, if it sends one. */
  readonly retryAfterSeconds: number | null;
}

const conversations = 200;
const turns = 20;
const round = (value: number): number => Math.round(value * 100) / 100;
const origin = (name: string): NonNullable<Ask["origin"]> => ({ key: "key_a", cacheKey: name });

/** Begins 20 conversations, and then continues each of them in the reverse order. Their system prompts are the same. */
export async function measureTurns(
  engine: Engine,
  { blockTokens, countCached }: FrontWorkers,
  urls: readonly string[],
): Promise<number> {
  // Rows may share workers, and a prompt of an earlier row would be in their caches.
  const run = randomBytes(4).toString("hex");
  const begun = Array.from({ length: turns }, (_, index) => [
    {
      role: "system" as const,
      content: `${run} ${"Every answer is short and says only what is certain. ".repeat(20)}`,
    },
    { role: "user" as const, content: `I am customer ${index}. ${"Every word counts. ".repeat(60)}` },
  ]);
  let shareable = 0;
  const said: string[] = [];
  for (const [index, messages] of begun.entries()) {
    const { usage, choices } = await ask(engine, { messages, origin: origin(`turn ${index}`), maxTokens: 8 });
    said.push(choices[0]?.text ?? "");
    // The beginning of the answer's turn may differ in the second prompt.
    shareable += Math.floor((usage.promptTokens - 8) / blockTokens) * blockTokens;
  }
  const before = await countCached?.(urls);
  let cached = 0;
  for (const [index, messages] of [...begun.entries()].toReversed()) {
    const next = [
      ...messages,
      { role: "assistant" as const, content: said[index] ?? "" },
      { role: "user" as const, content: "And then?" },
    ];
    const { usage } = await ask(engine, { messages: next, origin: origin(`turn ${index}`), maxTokens: 8 });
    cached += usage.cachedTokens;
  }
  if (countCached && before !== undefined) cached = (await countCached(urls)) - before;
  return round(cached / shareable);
}

export async function measureSpread(engine: Engine, places: FrontWorkers): Promise<number> {
  const since = await countFrom(places);
  for (let index = 0; index < conversations; index += 1)
    await ask(engine, { say: `Conversation ${index}`, origin: origin(`spread ${index}`), maxTokens: 1 });
  return round(Math.max(...(await since())) / (conversations / places.workers.length));
}

/** Kills the busier one of two workers while both answer eight requests. */
export async function measureKill(engine: Engine, places: FrontWorkers): Promise<Killed> {
  places.slowDown();
  const since = await countFrom(places);
  const running = Array.from({ length: 8 }, (_, index) => begin(engine, `killed ${index}`, places.answerTokens));
  await Promise.all(running.map(({ begun }) => begun));
  const counts = await since();
  const busiest = counts.indexOf(Math.max(...counts));
  await places.workers[busiest]?.kill();
  const killedMs = performance.now();
  const outcomes = await Promise.all(running.map(({ end }) => end));
  places.recover();
  const others = await answersAfter(engine, killedMs);
  const broken = outcomes.filter((outcome) => outcome !== "complete");
  return { ended: broken.length > 0 ? [...new Set(broken)] : ["complete"], broken: counts[busiest] ?? 0, ...others };
}

async function countFrom({ workers }: FrontWorkers): Promise<() => Promise<number[]>> {
  const count = (): Promise<number[]> => Promise.all(workers.map((worker) => worker.asked()));
  const before = await count();
  return async () => (await count()).map((now, index) => now - (before[index] ?? 0));
}

function begin(
  engine: Engine,
  name: string,
  maxTokens = 400,
): { readonly begun: Promise<void>; readonly end: Promise<string> } {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const run = async (): Promise<string> => {
    try {
      const say = `Tell me all about ${name}.`;
      const asked = { say, origin: origin(name), maxTokens, sampling: { logit_bias: neverEnding } };
      let reason = "none";
      for await (const events of stream(engine, requestFor(asked), AbortSignal.timeout(120_000))) {
        resolve();
        for (const event of events) if (event.kind === "finish") ({ reason } = event);
      }
      // The model cannot end its turn, so an answer that ends for another reason was cut without an error.
      return reason === "length" ? "complete" : `cut, with the reason ${reason}`;
    } catch (error) {
      return kindOf(error);
    } finally {
      resolve();
    }
  };
  return { begun, end: run() };
}

const causeOf = (error: unknown): string =>
  stripVTControlCharacters(String(error instanceof EngineError ? error.cause : error)).slice(0, 500);

const kindOf = (error: unknown): string => (error instanceof EngineError ? error.kind : String(error));

/** One vLLM with two engines needs minutes to start again on a busy machine. */
const recoveryLimitMs = 400_000;

/** Asks with a new session each time, until ten in a row were answered or the time has passed. */
async function answersAfter(engine: Engine, killedMs: number): Promise<Pick<Killed, "failures" | "seconds">> {
  let [failures, lastMs, inRow] = [0, killedMs, 0];
  for (let index = 0; inRow < 10 && performance.now() - killedMs < recoveryLimitMs; index += 1) {
    const error = await failureOf(engine, `after ${index}`);
    inRow = error === undefined ? inRow + 1 : 0;
    if (error === undefined) continue;
    failures += 1;
    lastMs = performance.now();
    // An engine that is not ready refuses at once.
    await wait(100);
  }
  return { failures, seconds: round((lastMs - killedMs) / 1000) };
}

const failureOf = (engine: Engine, session: string, maxTokens = 1): Promise<unknown> =>
  ask(engine, { say: "Hello", origin: origin(session), maxTokens, sampling: { logit_bias: neverEnding } }).then(
    () => undefined,
    (error: unknown) => error,
  );

/** Sends eight requests at once to a front that takes one. */
export async function measureNarrow(engine: Engine, places: StandIns): Promise<Refusals> {
  places.slowDown();
  return refusalsOf(engine, 8);
}

export interface FullWorkers extends Refusals {
  /** Seconds from the time when the workers answer again to the first answer; null: none within 90 seconds. */
  readonly recoveredSeconds: number | null;
}

/** Sends eight requests at once while all workers are full, and then one after the other until one is answered. */
export async function measureFull(engine: Engine, places: StandIns): Promise<FullWorkers> {
  places.fill();
  const refusals = await refusalsOf(engine, 8);
  places.recover();
  return { ...refusals, recoveredSeconds: await measureRecovery(engine) };
}

/** Sends 100 longer requests at once to two vLLM, each of which takes 32. */
export async function measureRealFull(engine: Engine): Promise<FullWorkers> {
  const refusals = await refusalsOf(engine, 100, 64);
  return { ...refusals, recoveredSeconds: await measureRecovery(engine) };
}

async function measureRecovery(engine: Engine): Promise<number | null> {
  const beganMs = performance.now();
  for (let index = 0; performance.now() - beganMs < 90_000; index += 1) {
    if ((await failureOf(engine, `full again ${index}`)) === undefined)
      return round((performance.now() - beganMs) / 1000);
    await wait(100);
  }
  return null;
}

async function refusalsOf(engine: Engine, count: number, maxTokens = 1): Promise<Refusals> {
  const asked = Array.from({ length: count }, (_, index) => failureOf(engine, `full ${index}`, maxTokens));
  const errors = (await Promise.all(asked)).filter((error) => error !== undefined);
  const other = errors.find((error) => kindOf(error) !== "unavailable");
  const waits = errors.flatMap((error) => (error instanceof EngineError ? (error.retryAfterMs ?? []) : []));
  return {
    refused: errors.length,
    of: count,
    as: [...new Set(errors.map(kindOf))],
    ...(other !== undefined && { cause: causeOf(other) }),
    retryAfterSeconds: waits.length > 0 ? Math.max(...waits) / 1000 : null,
  };
}
