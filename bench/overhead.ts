import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Measures CPU time of the server process per request and per streamed event: Parley ÷ plain Express, alternating in one run. */

interface Subject {
  readonly process: ChildProcess;
  readonly url: string;
}

/** A message of a subject about its own process. */
type Report = { readonly url: string } | { readonly cpuMicros: number };

const rounds = 7;
const requests = 400;
const streams = 12;
const eventsPerStream = 1000;
const concurrency = 8;

const start = async (file: string): Promise<Subject> => {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [message] = (await once(child, "message")) as [Report]; // the first message of a subject
  if (!("url" in message)) throw new Error(`${file} did not say where it listens`);
  return { process: child, url: message.url };
};

async function cpuMicros(subject: Subject): Promise<number> {
  subject.process.send("cpu");
  const [message] = (await once(subject.process, "message")) as [Report]; // the answer to the line above
  return "cpuMicros" in message ? message.cpuMicros : Number.NaN;
}

const ask = (subject: Subject, members: object): Promise<Response> =>
  fetch(`${subject.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer bench-key-0123456789", "content-type": "application/json" },
    body: JSON.stringify({ model: "vendor/model-1", messages: [{ role: "user", content: "Hello" }], ...members }),
  });

async function load(count: number, act: () => Promise<void>): Promise<void> {
  let left = count;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await act();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** Microseconds of the server's CPU per unit of work. */
async function measure(subject: Subject, units: number, count: number, act: () => Promise<void>): Promise<number> {
  const before = await cpuMicros(subject);
  await load(count, act);
  return ((await cpuMicros(subject)) - before) / units;
}

const plain = (subject: Subject) => async (): Promise<void> => {
  const response = await ask(subject, {});
  if (response.status !== 200) throw new Error(`status ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
};

const streamed = (subject: Subject) => async (): Promise<void> => {
  const response = await ask(subject, { stream: true, messages: [{ role: "user", content: "script:thousand" }] });
  const events = (await response.text()).split("\n\n").length - 1;
  if (events < eventsPerStream) throw new Error(`only ${events} events arrived`);
};

function summarize(title: string, parley: readonly number[], express: readonly number[]): string {
  const ratios = parley.map((value, index) => value / (express[index] ?? Number.NaN)).toSorted((a, b) => a - b);
  const median = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  const [least = 0, most = 0] = [ratios[0], ratios.at(-1)];
  return `${title}: ${median(ratios).toFixed(2)} × plain Express (${least.toFixed(2)} to ${most.toFixed(2)}); ${median(parley).toFixed(1)} µs against ${median(express).toFixed(1)} µs`;
}

const parley = await start("./parley-subject.ts");
const express = await start("./express-subject.ts");
const results = { request: [[], []] as [number[], number[]], event: [[], []] as [number[], number[]] };
for (let round = -1; round < rounds; round += 1) {
  for (const [index, subject] of [parley, express].entries()) {
    const perRequest = await measure(subject, requests, requests, plain(subject));
    const perEvent = await measure(subject, streams * eventsPerStream, streams, streamed(subject));
    if (round < 0) continue; // the first round warms up
    results.request[index]?.push(perRequest);
    results.event[index]?.push(perEvent);
  }
  process.stderr.write(`round ${round + 1} of ${rounds}\n`);
}
process.stdout.write(
  `${summarize("CPU per request", ...results.request)}\n${summarize("CPU per streamed event", ...results.event)}\n`,
);
for (const subject of [parley, express]) subject.process.kill();
