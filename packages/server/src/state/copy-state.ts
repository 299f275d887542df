import { StateError } from "./state-error.ts";
import { copiedTables, TableTotals } from "./copied-tables.ts";
import type { CopiedRow, CopiedTable, Totals } from "./copied-tables.ts";

/** The state that is copied. It does not change during the copy. */
export interface CopySource {
  /** A name for the operator. */
  readonly place: string;
  countRows(table: CopiedTable): Promise<number>;
  /** Yields all rows, in batches. */
  read(table: CopiedTable): AsyncIterable<readonly CopiedRow[]>;
  readSecret(): Promise<Uint8Array>;
}

/** The place of the copy. Nothing of it is visible to others until the whole copy is committed. */
export interface CopyTarget extends CopySource {
  readTotals(): Promise<Totals>;
  insert(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>;
  writeSecret(secret: Uint8Array): Promise<void>;
}

/** Called during a copy with the number of rows of a table that have been read so far, and that of all its rows. */
export type CopyProgress = (table: string, rows: number, allRows: number) => void;

/** @returns the totals of a state, without a copy */
export async function readTotals(source: CopySource, progress: CopyProgress): Promise<Totals> {
  return walk(source, progress, async () => undefined);
}

/**
 * Copies all rows and the secret into an empty target, and compares the totals.
 * @returns the totals of both
 * @throws {StateError} if they differ; then the caller must not commit
 */
export async function copyState(source: CopySource, target: CopyTarget, progress: CopyProgress): Promise<Totals> {
  await target.writeSecret(await source.readSecret());
  const read = await walk(source, progress, (table, rows) => target.insert(table, rows));
  const differing = findDifference(read, await target.readTotals());
  if (differing === undefined) return read;
  throw new StateError(
    `${target.place} would have ${differing.found} as ${differing.name}, and ${source.place} has ${differing.wanted}. Nothing was copied.`,
  );
}

/** Returns the first total in which two states differ. */
export function findDifference(
  wanted: Totals,
  found: Totals,
): { readonly name: string; readonly wanted: string; readonly found: string } | undefined {
  for (const [name, value] of wanted) {
    const other = found.get(name) ?? "nothing";
    if (other !== value) return { name, wanted: value, found: other };
  }
  return undefined;
}

async function walk(
  source: CopySource,
  progress: CopyProgress,
  use: (table: CopiedTable, rows: readonly CopiedRow[]) => Promise<void>,
): Promise<Totals> {
  const all: (readonly [string, string])[] = [];
  for (const table of copiedTables) {
    const allRows = await source.countRows(table);
    const totals = new TableTotals(table);
    for await (const rows of source.read(table)) {
      totals.add(rows);
      await use(table, rows);
      progress(table.name, totals.rows, allRows);
    }
    if (totals.rows !== allRows)
      throw new StateError(`${source.place} has changed: it had ${allRows} ${table.name}, and now ${totals.rows}.`);
    all.push(...totals.toEntries());
  }
  return new Map(all);
}
