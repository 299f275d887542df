import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CliProcess, freePort } from "@parley/server/testing";

const program = fileURLToPath(new URL("../src/cli/main.mjs", import.meta.url));

/** The functions of the shell for commands that a reader types in the folder of the repository. */
const programs = `parley() { "${process.execPath}" "${program}" "$@"; }
npx() { if [ "$1 $2 $3" = "-y pnpm@12.21.0 parley" ]; then shift 3; parley "$@"; else echo "cannot run npx $*"; return 1; fi; }`;

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

/** Returns the commands in the `sh` blocks of a guide, in order. */
export function readShellCommands(guide: string): string[] {
  const blocks = [...guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  return blocks.flatMap(splitCommands).filter((command) => command !== "" && !command.startsWith("#"));
}

/** A command ends with a line that has no `\\` at its end and that closes the quotes. */
function splitCommands(block: string): string[] {
  const commands: string[] = [];
  let open: string[] = [];
  for (const line of block.split("\n")) {
    open.push(line);
    const command = open.join("\n");
    if (line.endsWith("\\") || command.split("'").length % 2 === 0) continue;
    commands.push(command);
    open = [];
  }
  return commands;
}

/** A command that has ended. */
export interface Ran {
  readonly isDone: boolean;
  /** Its standard output and error, as they came. */
  readonly output: string;
}

export interface SessionOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** True if the port of the metrics is open. */
  readonly hasMetrics?: boolean;
}

/** A shell in a folder of its own, in which `parley` is the program. `parley start` runs until the session ends. */
export class GuideSession implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "parley-guide-"));
  #server: CliProcess | undefined;
  /** The ports of this session, by those that guides show. */
  readonly #ports: ReadonlyMap<string, string>;
  #env: Readonly<Record<string, string>>;

  private constructor(ports: ReadonlyMap<string, string>, { env = {}, hasMetrics = false }: SessionOptions) {
    this.#ports = ports;
    const [port = "", metricsPort = ""] = [...ports.values()].map((text) => text.slice(1));
    this.#env = { PORT: port, PARLEY_METRICS_PORT: hasMetrics ? metricsPort : "off", ...env };
  }

  static async open(options: SessionOptions = {}): Promise<GuideSession> {
    const free = (await Promise.all([freePort(), freePort()])).map(String);
    return new GuideSession(new Map([":8080", ":9464"].map((shown, index) => [shown, `:${free[index]}`])), options);
  }

  /** Sets the variables of all later commands, besides those of the session. */
  setVariables(variables: Readonly<Record<string, string | undefined>>): void {
    const all = Object.entries({ ...this.#env, ...variables });
    this.#env = Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
  }

  /**
   * Runs a command. Returns its standard output and error, with the port and folder of the guide instead of those of the
   * session.
   */
  async run(command: string): Promise<string> {
    const output = /\bparley start$/.test(command) ? await this.start() : (await this.runToEnd(command)).output;
    const [[shown = "", port = ""] = []] = this.#ports;
    return output.replaceAll(port, shown).replaceAll(this.folder, "/srv/parley");
  }

  /** Starts the server, and waits until it is ready. @returns the text that it has printed */
  async start(args: readonly string[] = []): Promise<string> {
    const env = { PARLEY_ENGINE: "scripted", ...this.#env };
    await this.#server?.[Symbol.asyncDispose]();
    const server = new CliProcess(["start", ...args], { cwd: this.folder, env });
    this.#server = server;
    await server.says(/Try it:[\s\S]*\}'\n/);
    return server.stderr;
  }

  runToEnd(command: string): Promise<Ran> {
    let typed = command;
    for (const [shown, port] of this.#ports) typed = typed.replaceAll(shown, port);
    // The guide shows the number of connections that this limit allows.
    const script = `ulimit -n 16384\n${programs}\n${typed}`;
    // The machine's environment must not change the output.
    const env = { PATH: process.env["PATH"] ?? "", ...this.#env };
    return new Promise((resolve) => {
      execFile("bash", ["-c", `{ ${script}\n} 2>&1`], { cwd: this.folder, env }, (error, output) =>
        resolve({ isDone: error === null, output }),
      );
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
