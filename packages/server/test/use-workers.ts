import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CliProcess, chatInit } from "@parley/server/testing";
import { baseUrlOf } from "./use-folder.ts";
import type { TestFolder } from "./use-folder.ts";

/** The key of the environment. */
export const key = "environment-key-0123456789";
export const own = { authorization: `Bearer ${key}` };

const scenarios = {
  slow: [{ text: "a" }, { wait_ms: 700 }, { text: "b" }, { finish: "stop" }],
  endless: [{ repeat: 100_000, steps: [{ text: "a" }, { wait_ms: 20 }] }],
};

/** A server with two workers. */
export interface Workers {
  readonly server: CliProcess;
  /** The URL for chat completions. */
  readonly url: string;
  readonly metricsUrl: string;
  readonly dataDir: string;
}

export async function startWorkers(folder: TestFolder, env: Readonly<Record<string, string>> = {}): Promise<Workers> {
  const script = join(folder.path(), "script.json");
  writeFileSync(script, JSON.stringify({ scenarios }));
  const settings = folder.quick({ PARLEY_API_KEY: key, PARLEY_SCRIPT: script, ...env });
  const server = new CliProcess(["start", "--workers", "2"], settings);
  const url = `${await baseUrlOf(server)}/chat/completions`;
  const [, metricsUrl = ""] = await server.says(/Metrics\s+(\S+)/);
  return { server, url, metricsUrl, dataDir: settings.env.PARLEY_DATA_DIR };
}

/** Returns the processes whose parent is the server's process. */
export const childrenOf = ({ server }: Workers): { readonly pid: number; readonly command: string }[] =>
  execFileSync("ps", ["-e", "-o", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => Number(match?.[2]) === server.child.pid)
    .map((match) => ({ pid: Number(match?.[1]), command: match?.[3] ?? "" }));

export const workersOf = (workers: Workers): number[] =>
  childrenOf(workers)
    .filter(({ command }) => command.endsWith(" worker"))
    .map(({ pid }) => pid);

/** Sends a request on a connection of its own, because each connection belongs to one worker. */
export const send = (url: string, init = chatInit({}, { headers: own })): Promise<Response> =>
  fetch(url, { ...init, headers: { ...init.headers, connection: "close" } });
