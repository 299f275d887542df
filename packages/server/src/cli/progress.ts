/** The output of the lines: standard error, or a fake in tests. */
export interface ProgressTarget {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/**
 * Shows one line for each model. On a terminal the lines are rewritten in place. Elsewhere only facts are written, one line
 * each.
 */
export class Progress {
  readonly #target: ProgressTarget;
  readonly #texts: Map<string, string>;
  #isDrawn = false;
  #isOver = false;

  constructor(names: readonly string[], target: ProgressTarget) {
    this.#target = target;
    this.#texts = new Map(names.map((name) => [name, "waiting"]));
  }

  /** Shows a temporary step, such as the loaded share of a file. Only on a terminal. */
  step(name: string, text: string): void {
    if (this.#isInPlace) this.#draw(name, text);
  }

  /** Shows a lasting fact. */
  fact(name: string, text: string): void {
    if (this.#isInPlace) this.#draw(name, text);
    else this.#target.write(`${name}: ${text}\n`);
  }

  /** Stops rewriting, because other lines follow. */
  end(): void {
    this.#isOver = true;
  }

  get #isInPlace(): boolean {
    return this.#target.isTTY === true && !this.#isOver;
  }

  #draw(name: string, text: string): void {
    this.#texts.set(name, text);
    const up = this.#isDrawn ? `\u001B[${this.#texts.size}A` : "";
    // Lines are cut at the width, because a wrapped line would take two lines when the cursor goes up.
    const width = (this.#target.columns || 80) - 1; // some terminals report 0
    const lines = [...this.#texts].map(([model, state]) => `\u001B[2K${`${model}: ${state}`.slice(0, width)}\n`);
    this.#target.write(up + lines.join(""));
    this.#isDrawn = true;
  }
}
