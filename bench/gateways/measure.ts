import { setTimeout as wait } from "node:timers/promises";
import { runLoad } from "../native/run-load.ts";
import type { Load, LoadResult } from "../native/run-load.ts";
import type { Pace, SimulatedEngine } from "../native/start-engine.ts";
import type { Duty } from "./duty.ts";
import { answerTokens } from "./figures.ts";
import type { RowName } from "./figures.ts";
import { cpuOfTree, useOfTree } from "./process-tree.ts";
import { modelName } from "./subjects/subject.ts";
import type { Subject } from "./subjects/subject.ts";

/** One subject under measurement. */
export interface Measured {
  readonly subject: Subject;
  readonly engine: SimulatedEngine;
  readonly duty: Duty;
  /** Folder for the file with the request. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Bytes of all its processes before its first load. */
  readonly restBytes: number | undefined;
  /** True if this subject answers with its own text, without the engine. */
  readonly isItsOwnEngine: boolean;
}

/** Values by the ids of their figures. A figure that a subject cannot give is absent. */
export type Values = Readonly<Record<string, number>>;

/** The load on a subject had refused, cut or wrong answers. */
export class LoadFailedError extends Error {
  override readonly name = "LoadFailedError";
}

const system = "You are a careful auditor of smart contracts. Answer briefly, and say what you are not sure of.";
const question =
  "Our vault keeps its own count of shares, and a donation changes the balance but not the count. " +
  "Which attacks does that open, and what would you change first? Name the functions that have to be looked at.";

export const bodyOf = (tokens: number, stream: boolean): object => ({
  model: modelName,
  messages: [
    { role: "system", content: system },
    { role: "user", content: question },
  ],
  max_tokens: tokens,
  temperature: 0.7,
  stream,
});

type Wanted = Omit<Load, "port" | "path" | "headers" | "body"> & { readonly tokens: number; readonly stream?: boolean };

/** Loads the subject at a pace of the engine. By default, any failed request fails the row. */
async function load<T>(
  measured: Measured,
  pace: Pace,
  { tokens, stream = false, ...wanted }: Wanted,
  observe: () => T,
  mayFail = false,
): Promise<{ readonly result: LoadResult; readonly before: T; readonly after: T }> {
  const { subject, engine, folder, signal } = measured;
  await engine.setPace(pace);
  const expected = stream || measured.isItsOwnEngine ? undefined : engine.text(tokens);
  const { port, path, headers } = subject;
  const full = {
    port,
    path,
    headers,
    body: bodyOf(tokens, stream),
    ...wanted,
    ...(expected !== undefined && { expected }),
  };
  const observed = await runLoad(full, folder, observe, signal);
  const { refused, cut, wrong, sample } = observed.result;
  if (!mayFail && refused + cut + wrong > 0)
    throw new LoadFailedError(`${refused} refused, ${cut} cut, ${wrong} wrong answers (${sample})`);
  return observed;
}

const cpuOf = ({ subject: { pid } }: Measured): number => (pid === undefined ? Number.NaN : cpuOfTree(pid));
const memoryOf = ({ subject: { pid } }: Measured): number =>
  pid === undefined ? Number.NaN : useOfTree(pid).memoryBytes;

async function cpuPerAnswer(measured: Measured, pace: Pace, wanted: Wanted): Promise<number> {
  const [cpu] = await timeAnswers(measured, pace, wanted);
  return cpu;
}

async function timeAnswers(measured: Measured, pace: Pace, wanted: Wanted): Promise<[cpu: number, perSecond: number]> {
  const { seconds, warmUpSeconds } = measured.duty;
  const observe = (): number => cpuOf(measured);
  const timed = { seconds, warmUpSeconds, ...wanted };
  const { result, before, after } = await load(measured, pace, timed, observe);
  return [(after - before) / result.answers, result.answers / (result.wall_us / 1e6)];
}

const atOnce: Pace = { intervalMs: 0 };
const everyTwenty: Pace = { intervalMs: 20 };
/** Tokens of a stream that outlasts the measurement at any pace. */
const longStream = 8000;

async function measureStreams(measured: Measured, connections: number): Promise<readonly [cpu: number, LoadResult]> {
  const { seconds, warmUpSeconds } = measured.duty;
  const wanted = { connections, tokens: longStream, stream: true, seconds, warmUpSeconds };
  const { result, before, after } = await load(measured, everyTwenty, wanted, () => cpuOf(measured));
  return [(after - before) / result.events, result];
}

/** Each answer takes 0.8 s, so the measured time is longer than in other rows. */
const pacedAnswers = ({ seconds }: Duty): Wanted => ({
  connections: 64,
  tokens: answerTokens,
  seconds: 2 * seconds,
  spreadSeconds: 0.8,
});

const lost = ({ refused, cut, wrong, unfinished }: LoadResult): number => refused + cut + wrong + unfinished;

/** Opens streams of 20 tokens, all at the same moment. */
async function burst(measured: Measured): Promise<LoadResult> {
  const wanted = { connections: measured.duty.burst, tokens: 20, stream: true, isOnce: true };
  return (await load(measured, everyTwenty, wanted, () => undefined, true)).result;
}

export const measurements: Readonly<Record<RowName, (measured: Measured) => Promise<Values>>> = {
  plain: async (measured) => {
    const [cpu, perSecond] = await timeAnswers(measured, atOnce, { connections: 64, tokens: answerTokens });
    return { plain: cpu, "plain-rate": perSecond };
  },
  "whole-streams": async (measured) => {
    const wanted = { connections: 64, tokens: answerTokens, stream: true };
    const [cpu, perSecond] = await timeAnswers(measured, atOnce, wanted);
    return { stream: cpu, "stream-rate": perSecond };
  },
  paced: async (measured) => ({
    paced: await cpuPerAnswer(measured, { intervalMs: 5 }, pacedAnswers(measured.duty)),
  }),
  "streams-500": async (measured) => {
    const [cpu, { gap_us, opened_us }] = await measureStreams(measured, measured.duty.manyStreams);
    return { "event-500": cpu, "gap-500": gap_us.p99 / 1000, "open-500": opened_us / 1000 };
  },
  "streams-100": async (measured) => {
    const [cpu] = await measureStreams(measured, measured.duty.fewStreams);
    return { "event-100": cpu };
  },
  "one-token": async (measured) => {
    const wanted = { connections: 8, tokens: 1, stream: true, isFresh: true };
    return { "one-token": await cpuPerAnswer(measured, atOnce, wanted) };
  },
  latency: async (measured) => {
    const { warmUpSeconds } = measured.duty;
    const once = { connections: 1, seconds: measured.duty.seconds / 2, warmUpSeconds };
    const first = await load(measured, atOnce, { ...once, tokens: 2, stream: true }, () => undefined);
    const answer = await load(measured, atOnce, { ...once, tokens: answerTokens }, () => undefined);
    return { "first-token": first.result.first_us.p50 / 1000, answer: answer.result.whole_us.p50 / 1000 };
  },
  requests: async (measured) => {
    const { connections, connectionsSeconds: seconds, answerSeconds } = measured.duty;
    const pace = { intervalMs: (answerSeconds * 1000) / answerTokens };
    const wanted = { connections, tokens: answerTokens, seconds, spreadSeconds: answerSeconds };
    const { result } = await load(measured, pace, wanted, () => undefined);
    return { requests: result.answers / (result.wall_us / 1e6) };
  },
  burst: async (measured) => {
    const first = await burst(measured);
    const broken = { connections: measured.duty.broken, tokens: longStream, stream: true, seconds: 0.2 };
    await load(measured, everyTwenty, broken, () => undefined, true);
    const second = await burst(measured);
    return {
      "burst-lost": lost(first),
      "burst-time": first.wall_us / 1000,
      "after-lost": lost(second),
      "after-time": second.wall_us / 1000,
    };
  },
  memory: async (measured) => {
    const { silentStreams: connections, settleSeconds } = measured.duty;
    const rest = measured.restBytes ?? Number.NaN;
    const wanted = { connections, tokens: 2, stream: true, seconds: 0, warmUpSeconds: settleSeconds };
    const { before } = await load(measured, { intervalMs: 1, isSilent: true }, wanted, () => memoryOf(measured));
    await wait(1000, undefined, { signal: measured.signal }); // all of them hang up
    return { "stream-memory": (before - rest) / 1024 / connections };
  },
  start: async ({ subject: { startMs }, restBytes }) => ({
    ...(startMs !== undefined && { health: startMs }),
    ...(restBytes !== undefined && { "rest-memory": restBytes / 1e6 }),
  }),
};
