import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ScriptStep } from "@parley/inference";
import { pino } from "pino";
import type { KeyRules } from "../src/auth/key-store.ts";
import { options, settingNames } from "../src/config/options.ts";
import type { Config } from "../src/config/read-config.ts";
import type { LedgerRow } from "../src/metering/usage-ledger.ts";
import type { Completion } from "../src/relay/collect.ts";
import { startServer } from "../src/server.ts";
import type { RunningServer } from "../src/server.ts";
import { assertLawful } from "./judge.ts";
import { judgeStream } from "./judge-stream.ts";
import type { StreamReport } from "./judge-stream.ts";

/** Sixteen characters at least, and in no log: a test searches for it. */
export const testKey = "test-key-0123456789abcdef";

type Members = Readonly<Record<string, unknown>>;

export interface TestServer extends AsyncDisposable {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly origin: string;
  readonly dataDir: string;
  readonly running: RunningServer;
  /** Every line that was logged, as text. */
  readonly logLines: readonly string[];
  /** A request with the test key, unless the headers name another. Its answer is held to the contract. */
  fetch(path: string, init?: TestInit): Promise<Response>;
  /** A chat request; the members given go over those of a plain one. */
  chat(members?: Members, init?: TestInit): Promise<Response>;
  /** The whole answer of a chat request that must be accepted. */
  complete(members?: Members, init?: TestInit): Promise<Completion>;
  /** The error of a chat request that must be refused. */
  refuse(members?: Members, init?: TestInit): Promise<Refusal>;
  /** A chat request streamed to its end, and held to the state machine. */
  stream(members?: Members, init?: TestInit): Promise<StreamReport>;
  /** A stored key under rules. */
  makeKey(rules?: Partial<KeyRules>): string;
  metrics(): Promise<string>;
  /** One value of the metrics; labels are written as Prometheus does. */
  gauge(name: string): Promise<number>;
  /** The rows of the ledger, read from beside the server. */
  ledger(): LedgerRow[];
}

/** Headers as plain names and values. */
export interface TestInit extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestOptions {
  readonly settings?: Partial<Config> | undefined;
  /** Scenarios of the scripted engine, played for the user text `script:NAME`. */
  readonly scenarios?: Readonly<Record<string, readonly ScriptStep[]>> | undefined;
}

/** An error as a caller sees it. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly type: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

export const modelId = "vendor/model-1";
export const miniId = "vendor/model-1-mini";

/** A real server on a free port with an own data folder. The engines play scripts unless the settings say otherwise. */
export async function startTestServer({ settings = {}, scenarios = {} }: TestOptions = {}): Promise<TestServer> {
  const ownFolder = mkdtempSync(join(tmpdir(), "parley-test-"));
  const script = join(ownFolder, "script.json");
  writeFileSync(script, JSON.stringify({ scenarios }));
  const logLines: string[] = [];
  const log = pino(
    { level: settings.logLevel ?? "debug", base: null },
    { write: (line: string) => void logLines.push(line) },
  );
  const given = { engine: "scripted", script, dataDir: ownFolder, port: 0, metricsPort: 0, apiKey: testKey } as const;
  const config: Config = { ...defaultConfig(), ...given, ...settings };
  const running = await startServer({ config, log, report: (event) => void logLines.push(JSON.stringify(event)) });
  await Promise.all(running.models.map((model) => model.engine.whenReady()));
  return {
    ...callsOf(running),
    dataDir: config.dataDir,
    running,
    logLines,
    ledger: () => readLedger(config.dataDir),
    async [Symbol.asyncDispose]() {
      await running.close();
      rmSync(ownFolder, { recursive: true, force: true });
    },
  };
}

type Calls = Omit<TestServer, "dataDir" | "running" | "logLines" | "ledger" | typeof Symbol.asyncDispose>;

function callsOf(running: RunningServer): Calls {
  const baseUrl = `${running.url}/v1`;
  const send = async (path: string, init: TestInit = {}): Promise<Response> => {
    const headers = { authorization: `Bearer ${testKey}`, ...init.headers };
    return judged(await fetch(`${baseUrl}${path}`, { ...init, headers }), init.method ?? "GET", headers.authorization);
  };
  const chat: Calls["chat"] = (members, init = {}) => send("/chat/completions", chatInit(members, init));
  const metrics = async (): Promise<string> => (await fetch(running.metricsUrl ?? "")).text();
  return {
    baseUrl,
    origin: running.url,
    fetch: send,
    chat,
    metrics,
    complete: async (members, init) =>
      (await expectStatus(await chat(members, init), 200)).json() as Promise<Completion>,
    refuse: async (members, init) => toRefusal(await chat(members, init)),
    stream: async (members = {}, init) => {
      const response = await expectStatus(await chat({ ...members, stream: true }, init), 200);
      return judgeStream(members, await response.text());
    },
    makeKey: (rules) => running.keys.create({ ...noRules, ...rules }, Date.now()).token,
    gauge: async (name) => {
      const line = (await metrics()).split("\n").find((one) => one.startsWith(`${name} `));
      return Number(line?.slice(name.length) ?? Number.NaN);
    },
  };
}

async function judged(response: Response, method: string, authorization: string): Promise<Response> {
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  const body = isJson ? await response.clone().text() : "";
  const { pathname, search } = new URL(response.url);
  const headers = Object.fromEntries(response.headers);
  assertLawful({ method, path: pathname + search, status: response.status, headers, body });
  const secret = authorization.split(/[ .]/).at(-1) ?? "";
  if (secret.length > 7 && (body + JSON.stringify(headers)).includes(secret))
    throw new Error("an answer holds the key");
  return response;
}

async function expectStatus(response: Response, status: number): Promise<Response> {
  if (response.status === status) return response;
  throw new Error(`the answer is ${response.status} instead of ${status}: ${await response.text()}`);
}

/** The error in an answer. */
export async function toRefusal(response: Response): Promise<Refusal> {
  if (response.ok) throw new Error(`the request was accepted: ${await response.text()}`);
  const { error } = (await response.json()) as { error: Omit<Refusal, "status" | "headers"> }; // judged already
  return { ...error, status: response.status, headers: response.headers };
}

function readLedger(dataDir: string): LedgerRow[] {
  using database = new DatabaseSync(join(dataDir, "parley.db"), { readOnly: true, timeout: 5000 });
  // The columns of the table.
  return database.prepare("SELECT * FROM requests ORDER BY started_ms, id").all() as unknown as LedgerRow[];
}

export const noRules: KeyRules = {
  name: "test",
  expiresMs: undefined,
  models: undefined,
  requestsPerMinute: undefined,
  tokensPerMinute: undefined,
  concurrency: undefined,
  budgetUsd: undefined,
};

export const defaultConfig = (): Config => {
  const defaults = Object.fromEntries(settingNames.map((name) => [name, options[name].fallback]));
  return { ...(defaults as unknown as Config), models: {} }; // a value for every row of the table
};

/** A POST of a chat request as JSON. */
export function chatInit(members: Members = {}, init: TestInit = {}): TestInit {
  const body = JSON.stringify({ model: modelId, messages: [{ role: "user", content: "Hello" }], ...members });
  return { method: "POST", body, ...init, headers: { "content-type": "application/json", ...init.headers } };
}

/** Headers of another key. */
export const withKey = (token: string): { readonly headers: Readonly<Record<string, string>> } => ({
  headers: { authorization: `Bearer ${token}` },
});

/** The messages of one user. */
export const say = (content: unknown): { readonly messages: readonly unknown[] } => ({
  messages: [{ role: "user", content }],
});

/** The messages that make the scripted engine play a scenario. */
export const play = (name: string): { readonly messages: readonly unknown[] } => say(`script:${name}`);

/** Asks again until the answer is wanted, or the time is over: then the last answer is in the message. */
export async function until<T>(
  ask: () => T | Promise<T>,
  isWanted: (answer: T) => boolean,
  timeoutMs = 5000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms; last seen: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
