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
