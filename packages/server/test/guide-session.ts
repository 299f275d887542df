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

/** A command of a guide, as it is typed, and what the guide says it prints. */
export interface Shown {
  readonly command: string;
  readonly output: string;
}

/** The commands in the blocks of a guide that are marked `console`, in their order; a command may go on behind `\`. */
export function readCommands(guide: string): Shown[] {
  const blocks = [...guide.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  return blocks.flatMap((block) =>
    [...block.matchAll(/^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, command = "", output = ""]) => ({
      command,
      output,
    })),
  );
}

/** A shell in a folder of its own, where `parley` is the program; `parley start` goes on running until the session ends. */
export class GuideSession implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "parley-guide-"));
  #server: CliProcess | undefined;
  /** In the guide the server has its usual port. */
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

  /** Runs a command. @returns its standard output and error, with the port and the folder that the guide shows */
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
    // The guide shows how many connections this limit allows.
    const script = `ulimit -n 16384\nparley() { "${process.execPath}" "${program}" "$@"; }\n${command.replaceAll(":8080", `:${this.#port}`)}`;
    // Nothing of the machine's own environment may decide what is printed.
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
