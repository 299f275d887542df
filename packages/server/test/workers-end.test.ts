import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { bundleServer, chatInit, parley, play, readLedger, until } from "@parley/server/testing";
import { freshBundle } from "../src/bundle/fresh-bundle.mjs";
import { readConfig } from "../src/config/read-config.ts";
import { useFolder } from "./use-folder.ts";
import { childrenOf, own, send, startWorkers, workersOf } from "./use-workers.ts";
import type { Workers } from "./use-workers.ts";

const folder = useFolder();

describe("the end of a server with workers", () => {
  const stream = async ({ url }: Workers): Promise<Promise<string>[]> => {
    const body = { ...play("slow"), stream: true };
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(url, chatInit(body, { headers: own }))));
    return answers.map((answer) => answer.text().catch(() => "cut"));
  };

  test("SIGTERM to the parent, or to all of its processes, lets all streams end", async () => {
    const workers = await startWorkers(folder, { PARLEY_LAME_DUCK_SECONDS: "2" });
    await using server = workers.server;
    const streams = await stream(workers);
    const pids = workersOf(workers);
    for (const pid of pids) process.kill(pid, "SIGTERM");
    for (const pid of pids) process.kill(pid, "SIGINT");
    server.child.kill("SIGTERM");
    await server.says(/Stopping in 2 s/);
    expect(await (await fetch(new URL("/ready", workers.url))).json()).toMatchObject({ status: "draining" });
    for (const text of await Promise.all(streams)) expect(text).toContain("[DONE]");
    expect((await server.result()).code).toBe(0);
    expect(server.stderr).toContain("Parley has stopped.");
    expect((await readLedger(workers.dataDir)).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 4 }, () => "complete"),
    );
  });

  test("parley stop works, and the server runs from its bundle as pnpm start runs it", async () => {
    await bundleServer();
    const workers = await startWorkers(folder);
    await using server = workers.server;
    expect(freshBundle()).toBeDefined();
    const streams = await stream(workers);
    expect((await parley(["stop", "--data-dir", workers.dataDir])).code).toBe(0);
    for (const text of await Promise.all(streams)) expect(text).toContain("[DONE]");
    expect((await server.result()).code).toBe(0);
  });

  test("no process outlives a parent that was killed", async () => {
    const workers = await startWorkers(folder);
    await using server = workers.server;
    const pids = childrenOf(workers).map(({ pid }) => pid);
    expect(pids.length).toBeGreaterThanOrEqual(4);
    server.child.kill("SIGKILL");
    const isAlive = (pid: number): boolean => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    await until(
      () => pids.filter(isAlive),
      (alive) => alive.length === 0,
    );
  });

  test("a port in use is reported as by one process", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo; // it listens on TCP
    const settings = folder.quick({ PARLEY_WORKERS: "2", PORT: String(port) });
    const { code, stderr } = await parley(["start"], settings);
    taken.close();
    expect([code, stderr]).toEqual([1, expect.stringContaining(`parley: Port ${port} on 127.0.0.1 is in use.`)]);
  });

  test.each(["0", "-1", "65", "two", "1.5"])("PARLEY_WORKERS=%s is refused", (value) => {
    expect(() => readConfig({ flags: {}, env: { PARLEY_WORKERS: value } })).toThrow("PARLEY_WORKERS must be");
  });

  test("more workers than processors are allowed, with a notice", () => {
    const { config, notices } = readConfig({ flags: { "--workers": "64" }, env: {} });
    expect([config.workers, notices]).toEqual([64, [expect.stringContaining("PARLEY_WORKERS is 64, more than")]]);
  });

  test("a vLLM that Parley starts needs one process", () => {
    expect(() => readConfig({ flags: {}, env: { PARLEY_WORKERS: "2", PARLEY_ENGINE: "vllm-process" } })).toThrow(
      "Start that vLLM separately",
    );
  });
});
