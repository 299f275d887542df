import type { Measured } from "./judge-row.ts";
import { measureRow } from "./measure-row.ts";
import type { Lengths } from "./measure-row.ts";
import { notesOf, verdictOf } from "./print.ts";
import type { Row } from "./row.ts";

export interface RunOptions {
  readonly seconds?: number | undefined;
  readonly isShort: boolean;
  readonly stop: AbortSignal;
  readonly say: (line: string) => void;
}

const usualSeconds = 8;

export const lengthsFor = (row: Row, { seconds, isShort }: Pick<RunOptions, "seconds" | "isShort">): Lengths =>
  isShort
    ? { aloneSeconds: 0.5, attackSeconds: seconds ?? 2 }
    : { aloneSeconds: 3, attackSeconds: seconds ?? row.seconds ?? usualSeconds };

/** Runs the rows one after the other, each with a new server, until the signal. */
export async function runAll(rows: readonly Row[], options: RunOptions): Promise<Measured[]> {
  const all: Measured[] = [];
  for (const [index, row] of rows.entries()) {
    if (options.stop.aborted) break;
    options.say(`[${index + 1}/${rows.length}] ${row.name}: ${row.action}`);
    try {
      const measured = await measureRow(row, lengthsFor(row, options), options.isShort, options.stop);
      all.push(measured);
      options.say([`  ${verdictOf(measured)}`, ...notesOf(measured)].join("\n"));
    } catch (error) {
      if (!options.stop.aborted) throw error;
    }
  }
  return all;
}
