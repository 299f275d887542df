import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

export type Row = Readonly<Record<string, string | number>>;

/** The folder of the report that is being made (`report:vllm`); without one the tables are printed only. */
const folder = process.env["PARLEY_REPORT"];

/** Rows that were measured by the way: printed together at the end, and kept for the report. */
export class MeasuredTable {
  readonly #name: string;
  readonly #rows: Row[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  add(row: Row): void {
    this.#rows.push(row);
    if (folder === undefined) return;
    mkdirSync(folder, { recursive: true });
    appendFileSync(join(folder, `${this.#name}.jsonl`), `${JSON.stringify(row)}\n`);
  }

  print(): void {
    console.table(this.#rows);
  }
}

/** One row of the table of faults. */
export interface FaultRow {
  readonly driver: string;
  readonly fault: string;
  /** What became of the streams that ran, or what was said. */
  readonly outcome: string;
  /** Milliseconds from the fault until the service knew of it, and until it answered again; undefined: it never has to. */
  readonly noticedMs: number;
  readonly recoveredMs: number | undefined;
}

export const faultTable = new MeasuredTable("faults");

export function addFault({ driver, fault, outcome, noticedMs, recoveredMs }: FaultRow): void {
  const recovered = recoveredMs === undefined ? "-" : Math.round(recoveredMs);
  faultTable.add({ driver, fault, outcome, "noticed, ms": Math.round(noticedMs), "recovered, ms": recovered });
}

/** The ends of the streams that ran, in words. */
export const outcomeOf = (streams: number, whole: number): string =>
  `${streams} streams: ${whole} whole, ${streams - whole} with an error or a reset`;
