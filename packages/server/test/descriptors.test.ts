import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { CliProcess, chatInit, parley, until } from "@parley/server/testing";
import { baseUrlOf, useFolder } from "./use-folder.ts";

// A server with a low limit of open files, and clients that open connections to use them all up.

const folder = useFolder();
const key = "environment-key-0123456789";
const headers = { authorization: `Bearer ${key}` };
const env = { PARLEY_API_KEY: key };
const limitedTo = (limit: number): readonly string[] => ["bash", "-c", `ulimit -n ${limit} && exec "$0" "$@"`];

/** Opens connections that send nothing. Disposing closes them. */
async function openSilent(url: string, count: number): Promise<Disposable> {
  const { port, hostname } = new URL(url);
  const open = (): Socket => connect(Number(port), hostname).on("error", () => undefined);
  const sockets = Array.from({ length: count }, open);
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  return {
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

const statusOf = async (url: string, init: RequestInit = {}): Promise<number> =>
  (await fetch(url, { ...init, signal: AbortSignal.timeout(10_000) })).status;
const chat = (base: string): Promise<number> => statusOf(`${base}/chat/completions`, chatInit({}, { headers }));

/** The process ids of a server's engines. Another process may be building the docs. */
const enginesOf = ({ child: { pid } }: CliProcess): readonly string[] =>
  execFileSync("ps", ["-o", "pid=,args=", "--ppid", String(pid)], { encoding: "utf8" })
    .trim()
    .split("\n")
    .filter((line) => !line.includes("site/src/main.ts"))
    .map((line) => line.trim().split(" ")[0] ?? "");

describe("a server that may have 256 files open", () => {
  test("serves callers and keeps its engines while strangers hold 300 silent connections", async () => {
    await using server = new CliProcess(["start"], { ...folder.quick(env), wrapper: limitedTo(256) });
    const base = await baseUrlOf(server);
    const engines = enginesOf(server);
    using _silent = await openSilent(base, 300);
    // Longer than an engine may be silent.
    const endsAt = Date.now() + 6000;
    while (Date.now() < endsAt) {
      expect(await statusOf(new URL("/health", base).href)).toBe(200);
      expect(await Promise.all(Array.from({ length: 5 }, () => chat(base)))).toEqual([200, 200, 200, 200, 200]);
      await wait(500);
    }
    expect(enginesOf(server)).toEqual(engines);
    expect(server.stdout).toContain('"open_files":256,"kept_back":192,"max_sockets":32');
    expect(server.stdout).not.toContain("crashed");
  }, 60_000);
});

describe("a limit that is too low", () => {
  const doctor = (limit: number, more: Readonly<Record<string, string>> = {}) =>
    parley(["doctor", "--json"], { ...folder.quick(more), wrapper: limitedTo(limit) });

  test("for the default is told by doctor, without calling it a problem", async () => {
    const { code, stdout } = await doctor(1024);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toContainEqual({
      topic: "open files",
      seen: expect.stringMatching(/^1024 allow 416 connections.*raise the limit to 8384: LimitNOFILE=8384/),
      problem: "",
    });
  });

  test("for a number that an operator has set is a problem, and a warning of the start", async () => {
    const { code, stdout } = await doctor(1024, { PARLEY_MAX_SOCKETS: "500" });
    expect(code).toBe(1);
    expect(stdout).toContain("1024 allow 416 connections, fewer than PARLEY_MAX_SOCKETS=500");
    const start = folder.quick({ ...env, PARLEY_MAX_SOCKETS: "500" });
    await using server = new CliProcess(["start"], { ...start, wrapper: limitedTo(1024) });
    const warning = /"level":"warn".*fewer than PARLEY_MAX_SOCKETS=500.*raise the limit to 1192/;
    await until(
      () => server.stdout,
      (log) => warning.test(log),
    );
  });

  test("to take connections at all is refused, with what to do", async () => {
    const refused = await parley(["start"], { ...folder.quick(env), wrapper: limitedTo(200) });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("This process may have 200 files open, and needs at least 224, better 8384");
    expect(refused.stderr).toContain("Or set PARLEY_MAX_SOCKETS to 4 or less.");
    expect((await doctor(200)).stdout).toContain("needs at least 224");
    // The limit is lower than the number of files that are kept back, so no lower setting would help.
    expect((await doctor(150)).stdout).toMatch(/needs at least 224.* in a shell\.(?! Or set)/);
  });
});

/** A caller that has opened its connections before. */
class Caller implements Disposable {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #url: string;

  constructor(base: string) {
    this.#url = `${base}/chat/completions`;
  }

  async chat(more: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    const { body } = chatInit(more, { headers });
    const init = { method: "POST", agent: this.#agent, headers: { ...headers, "content-type": "application/json" } };
    const sent = request(this.#url, init).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage]; // the event's argument
    await json(response);
    return response.statusCode;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

const setLimit = (server: CliProcess, limit: number): unknown =>
  execFileSync("prlimit", ["--pid", String(server.child.pid), `--nofile=${limit}:${plenty}`]);
const plenty = Number(spawnSync("bash", ["-c", "ulimit -Hn"], { encoding: "utf8" }).stdout) || 1024;

test("a server without free descriptors reports that, answers on open connections, keeps its engines, restarts a dead one, and recovers", async () => {
  await using server = new CliProcess(["start"], folder.quick({ ...env, PARLEY_MAX_SOCKETS: "400" }));
  const base = await baseUrlOf(server);
  // The docs are built now: the end of that process would free descriptors later.
  expect(await statusOf(new URL("/docs", base).href)).toBe(200);
  using caller = new Caller(base);
  const many = Array.from({ length: 8 });
  expect(await Promise.all(many.map(() => caller.chat()))).toEqual(many.map(() => 200));
  const engines = enginesOf(server);
  setLimit(server, readdirSync(`/proc/${server.child.pid}/fd`).length + 4);
  using silent = await openSilent(base, 100);
  await until(
    () => server.stdout,
    (log) => log.includes("no file can be opened"),
  );
  // The first schema needs a thread and files of the program. Without descriptors, it gets neither.
  const schema = { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } };
  expect(await caller.chat({ response_format: schema })).toBe(503);
  const statuses = await Promise.all(Array.from({ length: 8 }, () => caller.chat()));
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  // Longer than an engine may be silent.
  await wait(6000);
  expect(enginesOf(server)).toEqual(engines);
  // Its end frees descriptors. A limit below their numbers keeps the server from using them.
  setLimit(server, 20);
  process.kill(Number(engines[0]), "SIGKILL");
  await until(
    () => server.stdout,
    (log) => /cannot be started: spawn .* EMFILE; starting again/.test(log),
  );
  silent[Symbol.dispose]();
  setLimit(server, plenty);
  await until(
    async () => statusOf(new URL("/ready?model=vendor/model-1", base).href).catch(() => 0),
    (status) => status === 200,
    20_000,
  );
  await until(
    () => server.stdout,
    (log) => log.includes("files can be opened again"),
  );
  expect(await caller.chat({ response_format: schema })).toBe(200);
  expect(await statusOf(new URL("/docs", base).href)).toBe(200);
  expect(enginesOf(server)).toContain(engines[1]);
  expect(server.stdout).not.toContain("cannot be recorded");
}, 60_000);
