import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";

/** The files of one engine in a folder that outlives the server, so that commands and a later server find them. */
export class EngineFiles {
  /** The state of its latest run, which is needed to clear orphans. */
  readonly runState: string;
  readonly log: string;
  /** The restart request: a file that the running server checks for. */
  readonly #restart: string;
  readonly #folder: string;

  constructor(folder: string, name: string) {
    const id = `${name.replaceAll(/[^\w.-]/g, "-")}-${createHash("sha256").update(name).digest("hex").slice(0, 6)}`;
    this.#folder = folder;
    this.runState = join(folder, `${id}.json`);
    this.log = join(folder, `${id}.log`);
    this.#restart = join(folder, `${id}.restart`);
  }

  /** Returns the end of the log, or undefined if there is no log. */
  lastLines(count: number): string | undefined {
    if (!existsSync(this.log)) return undefined;
    const older = existsSync(`${this.log}.1`) ? readFileSync(`${this.log}.1`, "utf8") : "";
    const lines = (older + readFileSync(this.log, "utf8")).trimEnd().split("\n");
    return lines.slice(-count).join("\n");
  }

  requestRestart(): void {
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(this.#restart, "");
  }

  /** Checks if a restart was requested, and removes the request. */
  takeRestartRequest(): boolean {
    const isRequested = existsSync(this.#restart);
    if (isRequested) rmSync(this.#restart, { force: true });
    return isRequested;
  }
}
