import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { CliProcess } from "@parley/server/testing";
import type { Row, Target } from "./row.ts";

/** How the server ended after SIGTERM. */
export interface Stop {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string | null;
  readonly tookMs: number;
}

/** Drain time of the server under attack; the server's default is 30 s. */
export const drainSeconds = 3;
/** A server that has not ended by then is killed. */
const stopPatienceMs = drainSeconds * 1000 + 15_000;

/** The server under attack, started like `start`, in its own process and folder. */
export class Subject implements AsyncDisposable {
  readonly target: Target;
  readonly #process: CliProcess;
  readonly #folder: string;
  readonly #endsItself: boolean;

  private constructor(target: Target, server: CliProcess, folder: string, endsItself: boolean) {
    this.#endsItself = endsItself;
    this.target = target;
    this.#process = server;
    this.#folder = folder;
  }

  static async start(row: Row, isShort: boolean): Promise<Subject> {
    const folder = mkdtempSync(join(tmpdir(), "parley-pressure-"));
    const dataDir = join(folder, "data");
    const logFile = row.logTo ?? join(folder, "log");
    const script = join(folder, "script.json");
    writeFileSync(script, JSON.stringify({ scenarios: row.scenarios ?? {} }));
    const prepared = (await row.prepare?.({ dataDir, isShort })) ?? {};
    const server = new CliProcess(["start"], {
      cwd: folder,
      wrapper: ["sh", "-c", 'exec "$@" > "$0"', logFile],
      env: {
        PARLEY_ENGINE: row.engine,
        PARLEY_DATA_DIR: dataDir,
        PARLEY_DRAIN_SECONDS: String(drainSeconds),
        PORT: "0",
        PARLEY_METRICS_PORT: "0",
        ...(row.engine === "scripted" && { PARLEY_SCRIPT: script }),
        ...row.settings,
      },
    });
    try {
      const [, base = ""] = await server.says(/Base URL\s+(\S+)/, 120_000);
      const pid = server.child.pid ?? 0; // it has just said something
      const target = { origin: new URL(base).origin, dataDir, isShort, pid, logFile, prepared };
      return new Subject(target, server, folder, row.endsServer === true);
    } catch (error) {
      await server[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  get hasEnded(): boolean {
    return this.#process.isOver;
  }

  /** The last lines that it printed, such as the reason why it died. */
  get lastWords(): string {
    return this.#process.stderr.trim().split("\n").slice(-3).join(" | ");
  }

  /** Sends SIGTERM, as an operator does, and waits. A server that does not end is killed. */
  async stop(): Promise<Stop> {
    const startedMs = performance.now();
    // A second SIGTERM would end it at once.
    if (!this.#endsItself) this.#process.child.kill("SIGTERM");
    const late = new AbortController();
    void wait(stopPatienceMs, undefined, { signal: late.signal })
      .then(() => this.#process.child.kill("SIGKILL"))
      .catch(() => undefined);
    const { code } = await this.#process.result();
    late.abort();
    return { code, tookMs: performance.now() - startedMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
