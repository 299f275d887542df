import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

type Row = Readonly<Record<string, string | number>>;

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
