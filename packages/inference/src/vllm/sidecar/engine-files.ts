import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";

/** The files about one engine in the folder that outlives the server: commands and a later server find them there. */
export class EngineFiles {
  /** The state of its latest run: what to look for when orphans are cleared. */
  readonly runState: string;
  readonly log: string;
  /** The restart request: a file that the running server looks for. */
  readonly #restart: string;
  readonly #folder: string;

  constructor(folder: string, name: string) {
    const id = `${name.replaceAll(/[^\w.-]/g, "-")}-${createHash("sha256").update(name).digest("hex").slice(0, 6)}`;
    this.#folder = folder;
    this.runState = join(folder, `${id}.json`);
    this.log = join(folder, `${id}.log`);
    this.#restart = join(folder, `${id}.restart`);
  }

  /** The end of the log, or undefined where there is none. */
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

  /** Whether a restart was requested; the request is removed by that. */
  takeRestartRequest(): boolean {
    const isRequested = existsSync(this.#restart);
    if (isRequested) rmSync(this.#restart, { force: true });
    return isRequested;
  }
}
