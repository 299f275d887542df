import { appendFileSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** The last lines that an engine's processes wrote. They show why one died. */
export class LogTail {
  readonly #most: number;
  #lines: string[] = [];
  /** The number of lines that the latest process wrote. */
  #latest = 0;

  constructor(most = 200) {
    this.#most = most;
  }

  push(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > this.#most) this.#lines.shift();
    this.#latest = Math.min(this.#latest + 1, this.#most);
  }

  /** Begins the lines of a new process. */
  startProcess(): void {
    this.#latest = 0;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The lines of the latest process. */
  get latest(): readonly string[] {
    return this.#lines.slice(this.#lines.length - this.#latest);
  }

  /** The last line of the latest process that is not blank. */
  get last(): string {
    return this.latest.findLast((line) => line.trim() !== "") ?? "";
  }
}

/** A file beyond this size is rotated; only one rotated file is kept. */
const maxBytes = 4 * 2 ** 20;

/** The log of one engine on disk, in two files of bounded size. */
export class LogFile {
  readonly #path: string;
  #bytes: number;

  constructor(path: string) {
    this.#path = path;
    mkdirSync(dirname(path), { recursive: true });
    this.#bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Never throws: a log that cannot be written must not end the engine. */
  append(line: string): void {
    const text = `${new Date().toISOString()} ${line}\n`;
    try {
      if (this.#bytes > maxBytes) this.#rotate();
      appendFileSync(this.#path, text, { mode: 0o600 });
      this.#bytes += Buffer.byteLength(text);
    } catch {
      // The disk may be full. The last lines are still in memory.
    }
  }

  #rotate(): void {
    rmSync(`${this.#path}.1`, { force: true });
    renameSync(this.#path, `${this.#path}.1`);
    this.#bytes = 0;
  }
}
