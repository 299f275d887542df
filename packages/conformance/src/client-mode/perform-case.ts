import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { envelope, model, reply } from "./answers.ts";
import { defaultLimitMs } from "./clause.ts";
import type { Case, Evidence, Finding } from "./clause.ts";
import type { Adapter, Outcome, Task } from "./protocol.ts";
import { startScriptedServer } from "./scripted-server.ts";
import type { ScriptedServer } from "./scripted-server.ts";

/** The result of one case. */
export interface CaseResult {
  readonly name: string;
  readonly state: "PASS" | "FAIL" | "NOT_APPLICABLE" | "UNTESTABLE";
  readonly expected?: string;
  readonly actual?: string;
  readonly note?: string;
  readonly evidence: Evidence;
}

/** How long a connection may stay open after the answer before the case is judged, in milliseconds. */
const settleMs = 2000;

/** Bounds of a case, in milliseconds. */
export interface CaseLimits {
  /** The longest wait for the first request, which includes the start of the adapter. */
  readonly startLimitMs: number;
  /** The longest time from the first request to the answer, if it is shorter than that of the case. */
  readonly maxLimitMs?: number;
}

/** Runs one case: a server of its own, one task, one judgement. */
export async function performCase(one: Case, id: string, adapter: Adapter, limits: CaseLimits): Promise<CaseResult> {
  const limitMs = Math.min(one.limitMs ?? defaultLimitMs, limits.maxLimitMs ?? Infinity);
  const evidence = await collect(one, id, adapter, { ...limits, limitMs });
  return { name: one.name, evidence, ...judge(one, evidence, { ...limits, limitMs }) };
}

type Limits = CaseLimits & { readonly limitMs: number };

async function collect(one: Case, id: string, adapter: Adapter, limits: Limits): Promise<Evidence> {
  await using other = await startScriptedServer((_request, wire) => reply(wire, 401, envelope(401, "invalid_api_key")));
  // Another name for loopback is another host, also to clients that ignore the port.
  await using server = await startScriptedServer(one.serve, `http://localhost:${other.port}/v1`);
  const task = makeTask(one, id, `http://127.0.0.1:${server.port}/v1`);
  const timers = new AbortController();
  const outcome = await adapter.ask(task, limitOf(server, limits, timers.signal));
  timers.abort();
  const answeredMs = server.now();
  if (task.abortAfterFirstChunk === true) await untilClosed(server);
  return {
    task,
    outcome,
    answer: outcome.kind === "answer" ? outcome.answer : { task: task.task },
    requests: server.requests.map((request) => ({ ...request })),
    connections: server.connections,
    otherRequests: other.requests.map((request) => ({ ...request })),
    tookMs: answeredMs - (server.requests[0]?.atMs ?? answeredMs),
  };
}

function makeTask(one: Case, id: string, base: string): Task {
  const { baseUrl = "{base}", ...more } = one.task ?? {};
  return {
    task: `${id} ${one.name}`,
    baseUrl: baseUrl.replace("{base}", base),
    // A key of its own for every case, so that a leak is found wherever it comes to light.
    apiKey: `${keyPrefix}${randomBytes(12).toString("hex")}`,
    call: "create",
    model,
    messages: [{ role: "user", content: "Greet me from Zürich." }],
    maxRetries: 2,
    timeoutMs: 30_000,
    ...more,
  };
}

const keyPrefix = "sk-judged-";

async function limitOf(server: ScriptedServer, limits: Limits, signal: AbortSignal): Promise<void> {
  const pass = (ms: number): Promise<boolean> => wait(ms, false, { signal }).catch(() => false);
  const isReached = await Promise.race([server.reached.then(() => true), pass(limits.startLimitMs)]);
  if (isReached) await pass(limits.limitMs);
}

async function untilClosed(server: ScriptedServer): Promise<void> {
  const endMs = server.now() + settleMs;
  while (server.now() < endMs && server.requests.some(({ closedAtMs }) => closedAtMs === undefined)) await wait(20);
}

type Judgement = Omit<CaseResult, "name" | "evidence">;

function judge(one: Case, evidence: Evidence, limits: Limits): Judgement {
  const { outcome, requests } = evidence;
  if (outcome.kind !== "answer") return judgeSilence(outcome, requests.length, limits);
  if (outcome.answer.unsupported !== undefined) return { state: "NOT_APPLICABLE", note: outcome.answer.unsupported };
  const finding: Finding = one.judge(evidence);
  if (finding === undefined) return { state: "PASS" };
  return "notApplicable" in finding
    ? { state: "NOT_APPLICABLE", note: finding.notApplicable }
    : { state: "FAIL", ...finding };
}

function judgeSilence(
  outcome: Exclude<Outcome, { kind: "answer" }>,
  requests: number,
  { startLimitMs, limitMs }: Limits,
): Judgement {
  if (outcome.kind === "invalid") return { state: "UNTESTABLE", note: outcome.why };
  const expected = "an answer or an error";
  if (outcome.kind === "ended")
    return { state: "FAIL", expected, actual: `the adapter's process ended with ${outcome.how}` };
  const actual =
    requests === 0
      ? `hangs: no request within ${startLimitMs / 1000} s`
      : `hangs: nothing within ${limitMs / 1000} s of the first of ${requests} request${requests === 1 ? "" : "s"}`;
  return { state: "FAIL", expected, actual };
}
