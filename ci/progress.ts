import { clearScreenDown, moveCursor } from "node:readline";
import type { Writable } from "node:stream";
import { countsOf, hasPassed } from "./outcome.ts";
import type { Finished, Outcome } from "./outcome.ts";
import type { Watcher } from "./schedule.ts";
import type { Step } from "./step.ts";

/** A terminal or another text stream. */
type Output = Writable & Partial<Pick<NodeJS.WriteStream, "isTTY" | "columns">>;

export interface Progress extends Watcher, Disposable {}

/** Prints finished steps as lines. On a terminal, a table of the running steps is shown below them. Elsewhere every event is a line. */
export const showProgress = (out: Output, width: number): Progress =>
  out.isTTY === true ? liveProgress(out, width) : plainProgress(out, width);

function plainProgress(out: Output, width: number): Progress {
  return {
    onStart: ({ name, purpose }) => void out.write(`> ${name.padEnd(width)}  ${purpose}\n`),
    onEnd: (step, outcome) => void out.write(ended(step, outcome, width)),
    [Symbol.dispose]: () => undefined,
  };
}

const refreshMs = 500;

function liveProgress(out: Output, width: number): Progress {
  const startedMs = new Map<Step, number>();
  let drawn = 0;
  const clear = (): void => {
    moveCursor(out, 0, -drawn);
    clearScreenDown(out);
    drawn = 0;
  };
  const draw = (): void => {
    clear();
    for (const [{ name, purpose }, since] of startedMs) {
      // A longer line would wrap, and the cursor would no longer find the top of the table.
      out.write(
        `${`… ${name.padEnd(width)} ${seconds((Date.now() - since) / 1000)}  ${purpose}`.slice(0, (out.columns ?? 80) - 1)}\n`,
      );
      drawn += 1;
    }
  };
  const timer = setInterval(draw, refreshMs);
  return {
    onStart(step) {
      startedMs.set(step, Date.now());
      draw();
    },
    onEnd(step, outcome) {
      clear();
      out.write(ended(step, outcome, width));
      startedMs.delete(step);
      draw();
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      clear();
    },
  };
}

function ended({ name }: Step, finished: Finished, width: number): string {
  const line = `${markOf(finished)} ${name.padEnd(width)} ${seconds(finished.seconds)}  ${countsOf(finished)}\n`;
  return finished.trouble === undefined ? line : `${line}${finished.trouble.replaceAll(/^/gm, "    ")}\n`;
}

function markOf(outcome: Outcome): string {
  if (outcome.failed > 0) return "✗";
  return hasPassed(outcome) ? "✓" : "-";
}

const seconds = (count: number): string => `${Math.round(count)} s`.padStart(6);
