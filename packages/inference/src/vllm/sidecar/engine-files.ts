import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";

/** The files about one engine in the folder that outlives the server: commands and a later server find them there. */
export class EngineFiles {
  /** What may be left of its latest run. */
  readonly record: string;
  readonly log: string;
  /** Its being there asks the running server for a restart. */
  readonly #restart: string;
  readonly #folder: string;

  constructor(folder: string, name: string) {
    const id = `${name.replaceAll(/[^\w.-]/g, "-")}-${createHash("sha256").update(name).digest("hex").slice(0, 6)}`;
    this.#folder = folder;
    this.record = join(folder, `${id}.json`);
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

  askForRestart(): void {
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(this.#restart, "");
  }

  /** Whether somebody has asked; the wish is taken back by that. */
  takeRestartWish(): boolean {
    const isWished = existsSync(this.#restart);
    if (isWished) rmSync(this.#restart, { force: true });
    return isWished;
  }
}
