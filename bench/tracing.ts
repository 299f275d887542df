import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { tracingOf } from "@parley/server/testing";
import type { RequestRecord } from "@parley/server/testing";
import { ReportCommand, wholeNumber } from "@parley/common/flag-values";
import { describeMachine, median, readCommit } from "./gateways/report/result.ts";

const requests = 4000;
/** Requests between two pauses, and the pause in milliseconds. It lets the spans be sent, so none is lost. */
const [atOnce, pauseMs] = [100, 25];
const ratios = [1, 0.1, 0] as const;

/** A plain answer of 160 tokens. */
const recordAt = (startedAtMs: number): RequestRecord => ({
  id: "req_0193a1b2c3d40123456789ab",
  method: "POST",
  path: "/v1/chat/completions",
  client: "127.0.0.1",
  startedAtMs,
  keyId: "0123456789ab",
  model: "vendor/model-1-mini",
  isStream: false,
  firstEventMs: 1.5,
  choices: 1,
  promptTokens: 97,
  cachedTokens: 0,
  completionTokens: 160,
  reasoningTokens: 0,
  costUsd: "0.00012345",
  queuedAtMs: startedAtMs + 0.7,
  queueWaitMs: 0.1,
  engineEndedAtMs: startedAtMs + 4,
  outcome: "complete",
});

type Tracing = NonNullable<Awaited<ReturnType<typeof tracingOf>>>;

/** @returns microseconds of processor time for a request */
async function measure(tracing: Tracing | undefined): Promise<number> {
  const before = process.cpuUsage();
  for (let ended = 0; ended < requests; ended += 1) {
    const record = recordAt(performance.now());
    const trace = tracing?.begin({});
    if (trace?.traceparent !== "") trace?.end(record, 200, 5.5);
    if (ended % atOnce === 0) await wait(pauseMs);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

const show = (values: readonly number[]): string =>
  `${median(values).toFixed(1)} (${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)})`;

const readRounds = (): number =>
  new ReportCommand("bench:tracing")
    .description("Measures the processor time of the trace of one request, without the request.")
    .option("--rounds <count>", "how often each is measured", wholeNumber, 8)
    .parse()
    .opts<{ readonly rounds: number }>().rounds;

async function run(rounds: number): Promise<void> {
  // The collector takes everything. It is a process of its own, whose time is not measured.
  const collector = fork(import.meta.filename, ["collector"]);
  try {
    const [port] = (await once(collector, "message")) as [number]; // sent below
    const log = { warn: (text: string) => void process.stderr.write(`${text}\n`) };
    const open = (traceRatio: number) =>
      tracingOf({ otlpEndpoint: `http://127.0.0.1:${port}`, traceRatio }, log, Date.now);
    await using stack = new AsyncDisposableStack();
    const subjects: [title: string, tracing: Tracing | undefined, values: number[]][] = [["off", undefined, []]];
    for (const ratio of ratios) {
      const tracing = stack.use(await open(ratio));
      subjects.push([`PARLEY_TRACE_RATIO=${ratio}`, tracing, []]);
    }
    for (let round = 0; round <= rounds; round += 1) {
      for (const [, tracing, values] of subjects) {
        const value = await measure(tracing);
        if (round > 0) values.push(value); // V8 compiles in the first round
      }
    }
    process.stdout.write(`${readCommit().commit}, ${describeMachine()}\n`);
    const off = subjects[0]?.[2] ?? [];
    for (const [title, tracing, values] of subjects) {
      const more = values.map((value, round) => value - (off[round] ?? 0));
      const lost = tracing ? `, ${tracing.counts.lost} spans lost` : "";
      process.stdout.write(`${title}: ${show(more)} µs for a request, ${rounds} rounds${lost}\n`);
    }
  } finally {
    collector.kill();
  }
}

if (process.argv[2] === "collector") {
  const server = createServer((request, response) => void request.resume().on("end", () => response.end("{}")));
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port)); // it listens on a port
} else await run(readRounds());
