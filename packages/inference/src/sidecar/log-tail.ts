/** The last lines that a process wrote: they say why it died. */
export class LogTail {
  readonly #most: number;
  #lines: string[] = [];

  constructor(most = 200) {
    this.#most = most;
  }

  push(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > this.#most) this.#lines.shift();
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  get last(): string {
    return this.#lines.findLast((line) => line.trim() !== "") ?? "";
  }
}
