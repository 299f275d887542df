/** What the lines are written to: standard error, or what stands for it in a test. */
export interface ProgressTarget {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A line for each model. On a terminal the lines are written anew in place; elsewhere only what stays true is written. */
export class Progress {
  readonly #target: ProgressTarget;
  readonly #texts: Map<string, string>;
  #isDrawn = false;
  #isOver = false;

  constructor(names: readonly string[], target: ProgressTarget) {
    this.#target = target;
    this.#texts = new Map(names.map((name) => [name, "waiting"]));
  }

  /** A step on the way, such as a share that is loaded. */
  step(name: string, text: string): void {
    if (this.#isInPlace) this.#draw(name, text);
  }

  /** What is worth a line in a file. */
  fact(name: string, text: string): void {
    if (this.#isInPlace) this.#draw(name, text);
    else this.#target.write(`${name}: ${text}\n`);
  }

  /** Other lines follow: from here on nothing is written in place. */
  end(): void {
    this.#isOver = true;
  }

  get #isInPlace(): boolean {
    return this.#target.isTTY === true && !this.#isOver;
  }

  #draw(name: string, text: string): void {
    this.#texts.set(name, text);
    const up = this.#isDrawn ? `\u001B[${this.#texts.size}A` : "";
    // A line that the terminal breaks would be two when the cursor goes up.
    const width = (this.#target.columns || 80) - 1; // some terminals say 0
    const lines = [...this.#texts].map(([model, state]) => `\u001B[2K${`${model}: ${state}`.slice(0, width)}\n`);
    this.#target.write(up + lines.join(""));
    this.#isDrawn = true;
  }
}
