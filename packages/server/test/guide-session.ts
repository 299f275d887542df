import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CliProcess } from "@parley/server/testing";

const program = fileURLToPath(new URL("../src/cli/main.mjs", import.meta.url));

/** A command of a guide as it is typed, and its output in the guide. */
export interface Shown {
  readonly command: string;
  readonly output: string;
}

/** Returns the commands in the `console` blocks of a guide, in order. A command may continue on the next line after `\`. */
export function readCommands(guide: string): Shown[] {
  const blocks = [...guide.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  return blocks.flatMap((block) =>
    [...block.matchAll(/^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, command = "", output = ""]) => ({
      command,
      output,
    })),
  );
}

/** A shell in a folder of its own, in which `parley` is the program. `parley start` runs until the session ends. */
export class GuideSession implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "parley-guide-"));
  #server: CliProcess | undefined;
  /** The port of this session. The guide shows the usual one. */
  readonly #port: string;

  private constructor(port: number) {
    this.#port = String(port);
  }

  static async open(): Promise<GuideSession> {
    const free = createServer().listen(0, "127.0.0.1");
    await once(free, "listening");
    const { port } = free.address() as AddressInfo; // it listens on TCP
    free.close();
    return new GuideSession(port);
  }

  /**
   * Runs a command. Returns its standard output and error, with the port and folder of the guide instead of those of the
   * session.
   */
  async run(command: string): Promise<string> {
    const output = /\bparley start$/.test(command) ? await this.#start() : await this.#runToEnd(command);
    return output.replaceAll(`:${this.#port}`, ":8080").replaceAll(this.#folder, "/srv/parley");
  }

  async #start(): Promise<string> {
    const env = { PARLEY_ENGINE: "scripted", PORT: this.#port, PARLEY_METRICS_PORT: "off" };
    const server = new CliProcess(["start"], { cwd: this.#folder, env });
    this.#server = server;
    await server.says(/Try it:[\s\S]*\}'\n/);
    return server.stderr;
  }

  #runToEnd(command: string): Promise<string> {
    // The guide shows the number of connections that this limit allows.
    const script = `ulimit -n 16384\nparley() { "${process.execPath}" "${program}" "$@"; }\n${command.replaceAll(":8080", `:${this.#port}`)}`;
    // The machine's environment must not change the output.
    const env = { PATH: process.env["PATH"] ?? "", PORT: this.#port, PARLEY_METRICS_PORT: "off" };
    return new Promise((resolve) => {
      execFile("bash", ["-c", `{ ${script}\n} 2>&1`], { cwd: this.#folder, env }, (_error, stdout) => resolve(stdout));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
