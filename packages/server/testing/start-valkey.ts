import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Valkey } from "iovalkey";
import { freePort } from "@parley/common/free-port";
import { until } from "./until.ts";

/** The server that is installed: Valkey, or Redis; undefined if neither is. */
export const valkeyProgram = ["valkey-server", "redis-server"].find(
  (name) => spawnSync(name, ["--version"]).status === 0,
);

/** A real Valkey or Redis on a loopback port, with its files in a temporary folder. */
export interface TestValkey extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Sends a signal: SIGKILL, SIGSTOP or SIGCONT. Resolves after the end of a killed server. */
  signal(name: NodeJS.Signals): Promise<void>;
  /** Starts a killed server again, on its port and with its data. */
  restart(): Promise<void>;
  /** Sends a command, such as `CONFIG SET maxmemory 1`, over a connection that stays open. */
  command(name: string, ...args: readonly string[]): Promise<unknown>;
}

/**
 * Starts a server that keeps all data on disk.
 * @param args further arguments, such as `--requirepass`
 */
export async function startValkey(...args: readonly string[]): Promise<TestValkey> {
  const program = valkeyProgram;
  if (program === undefined) throw new Error("neither valkey-server nor redis-server is installed");
  const folder = mkdtempSync(join(tmpdir(), "parley-valkey-"));
  const port = await freePort();
  const start = async (): Promise<ChildProcess> => {
    // While a sync runs on a busy disk, a server that syncs delays its writes, and a kill would lose them.
    const log = ["--save", "", "--appendonly", "yes", "--appendfsync", "no"];
    const own = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, ...log];
    const child = spawn(program, [...own, ...args], { stdio: "ignore" });
    await until(async () => child.exitCode !== null || (await isPortOpen(port)), Boolean);
    if (child.exitCode !== null)
      throw new Error(`${program} ended at its start: are these arguments right? ${args.join(" ")}`);
    return child;
  };
  const end = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "exit");
    child.kill("SIGKILL");
    await closed;
  };
  let child = await start();
  const admin = new Valkey({ port, lazyConnect: true, maxRetriesPerRequest: 0 });
  admin.on("error", () => undefined);
  return {
    port,
    url: `valkey://127.0.0.1:${port}`,
    signal: async (name) => (name === "SIGKILL" ? end(child) : void child.kill(name)),
    restart: async () => void (child = await start()),
    command: (name, ...args) => admin.call(name, ...args),
    [Symbol.asyncDispose]: async () => {
      admin.disconnect();
      await end(child);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Returns whether a server accepts connections at this port of the loopback interface. */
export async function isPortOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isOpen = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
