import type { Exchange } from "../wire/exchange.ts";

/** The longest time without a line of progress where no terminal shows it, in milliseconds. */
const lineEveryMs = 5000;

/** Shows on standard error how far a run is: in one line that changes on a terminal, otherwise in a line every few seconds. */
export class Progress implements Disposable {
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #begunMs = performance.now();
  readonly #isTerminal = process.stderr.isTTY;
  #sent = 0;
  #last = "";

  constructor(isQuiet: boolean) {
    if (isQuiet) return;
    this.#timer = setInterval(() => this.#show(), this.#isTerminal ? 200 : lineEveryMs);
  }

  readonly note = ({ name }: Exchange): void => {
    this.#sent += 1;
    this.#last = name;
  };

  #show(): void {
    const seconds = Math.round((performance.now() - this.#begunMs) / 1000);
    const text = `${seconds} s: ${this.#sent} answers${this.#last === "" ? "" : `, the last one to "${this.#last.slice(0, 60)}"`}`;
    process.stderr.write(this.#isTerminal ? `\r\u001B[K${text}` : `${text}\n`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#isTerminal && this.#timer !== undefined) process.stderr.write("\r\u001B[K");
  }
}

/** The exit code after Ctrl-C, by the custom of shells. */
export const interruptedCode = 130;

/** Returns a signal that the first SIGINT or SIGTERM aborts. The second one ends the process at once. */
export function listenForInterrupt(): { readonly signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(interruptedCode);
    process.stderr.write("\nInterrupted: the reports of the answers so far follow. Interrupt again to end at once.\n");
    controller.abort();
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => void process.off("SIGINT", stop).off("SIGTERM", stop),
  };
}
