import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

export type Row = Readonly<Record<string, string | number>>;

/** The folder of the report (`report:vllm`). Without it, the tables are only printed. */
const folder = process.env["PARLEY_REPORT"];

/** Rows that other tests measured. They are printed together at the end and kept for the report. */
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

/** A row of the fault table. */
export interface FaultRow {
  readonly driver: string;
  readonly fault: string;
  /** The outcome of the running streams, or the reported error. */
  readonly outcome: string;
  /** Milliseconds from the fault until the service noticed it, and until it answered again; undefined: not applicable. */
  readonly noticedMs: number;
  readonly recoveredMs: number | undefined;
}

export const faultTable = new MeasuredTable("faults");

export function addFault({ driver, fault, outcome, noticedMs, recoveredMs }: FaultRow): void {
  const recovered = recoveredMs === undefined ? "-" : Math.round(recoveredMs);
  faultTable.add({ driver, fault, outcome, "noticed, ms": Math.round(noticedMs), "recovered, ms": recovered });
}

/** Describes the ends of the running streams. */
export const outcomeOf = (streams: number, whole: number): string =>
  `${streams} streams: ${whole} whole, ${streams - whole} with an error or a reset`;
