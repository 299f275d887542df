import { createKey } from "../src/accounts/keys/issue-key.ts";
import type { KeyRules } from "../src/accounts/keys/key-store.ts";
import type { Completion } from "../src/chat/relay/collect.ts";
import type { RunningServer } from "../src/server.ts";
import { assertLawful } from "./judge.ts";
import { judgeStream } from "./judge-stream.ts";
import type { StreamReport } from "./judge-stream.ts";
import { toRefusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import { chatInit, testKey } from "./requests.ts";
import type { Fields, TestInit } from "./requests.ts";

/** Functions that send requests to a running server. Every answer is checked against the contract. */
export interface Calls {
  /** The base URL, with `/v1`. */
  readonly baseUrl: string;
  /** The URL without a path. */
  readonly origin: string;
  /** Sends a request with the test key, unless the headers contain another. */
  fetch(path: string, init?: TestInit): Promise<Response>;
  /** Sends a chat request. `fields` replace or extend those of a plain one. */
  chat(fields?: Fields, init?: TestInit): Promise<Response>;
  /** Sends a chat request that must be accepted. Returns the whole answer. */
  complete(fields?: Fields, init?: TestInit): Promise<Completion>;
  /** Sends a chat request that must be refused. Returns the error. */
  refuse(fields?: Fields, init?: TestInit): Promise<Refusal>;
  /**
   * Sends a chat request with `stream: true`, and reads the answer to its end. It is checked by the contract's state
   * machine.
   */
  stream(fields?: Fields, init?: TestInit): Promise<StreamReport>;
  /** Creates a stored key with these rules. Returns its token. */
  makeKey(rules?: Partial<KeyRules>): Promise<string>;
  /** Returns the metrics in Prometheus' format. */
  metrics(): Promise<string>;
  /** Returns one value of the metrics. `name` includes the labels in Prometheus' format. */
  gauge(name: string): Promise<number>;
}

export function callsOf(running: RunningServer): Calls {
  const baseUrl = `${running.url}/v1`;
  const send = async (path: string, init: TestInit = {}): Promise<Response> => {
    const headers = { authorization: `Bearer ${testKey}`, ...init.headers };
    return judged(await fetch(`${baseUrl}${path}`, { ...init, headers }), init.method ?? "GET", headers.authorization);
  };
  const chat: Calls["chat"] = (fields, init = {}) => send("/chat/completions", chatInit(fields, init));
  const metrics = async (): Promise<string> => (await fetch(running.metricsUrl ?? "")).text();
  return {
    baseUrl,
    origin: running.url,
    fetch: send,
    chat,
    metrics,
    complete: async (fields, init) => (await expectStatus(await chat(fields, init), 200)).json() as Promise<Completion>,
    refuse: async (fields, init) => toRefusal(await chat(fields, init)),
    stream: async (fields = {}, init) => {
      const response = await expectStatus(await chat({ ...fields, stream: true }, init), 200);
      return judgeStream(fields, await response.text());
    },
    makeKey: async (rules) => (await createKey(running.keys, { name: "test", ...rules }, Date.now())).token,
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
