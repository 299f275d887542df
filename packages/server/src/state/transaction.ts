import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";

/** Maximum milliseconds that a change waits while another process has locked the database. */
export const maxLockedMs = 5000;
/** Milliseconds between two attempts. */
export const lockedRetryMs = 20;

/** The code of SQLite for a database that another connection has locked. An extended code has it in its lowest byte. */
const busyCode = 5;

export const isLocked = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === busyCode;

/** Makes each statement fail at once while another process has locked the database. By default, SQLite blocks the thread. */
export const neverBlock = (database: DatabaseSync): void => database.exec("PRAGMA busy_timeout = 0");

/**
 * Makes a change at the end of the process, when nothing else can run. While another process has locked the database, this blocks
 * the thread.
 */
export function blocking<T>(database: DatabaseSync, change: () => T): T {
  database.exec(`PRAGMA busy_timeout = ${maxLockedMs}`);
  try {
    return change();
  } finally {
    neverBlock(database);
  }
}

/**
 * Makes a change. While another process has locked the database, it tries again, and the thread does other work meanwhile.
 * The first attempt is finished when the call returns, and so is a change that is a part of the present transaction.
 */
export async function whenUnlocked<T>(database: DatabaseSync, change: () => T): Promise<T> {
  const untilMs = performance.now() + maxLockedMs;
  for (;;) {
    try {
      return change();
    } catch (error) {
      if (database.isTransaction || !isLocked(error) || performance.now() >= untilMs) throw error;
    }
    await wait(lockedRetryMs);
  }
}

/** Runs a change that is on the disk when the call returns, or, in a transaction, when that is committed. */
export function durably<T>(database: DatabaseSync, change: () => T): T {
  if (database.isTransaction) return change();
  database.exec("PRAGMA synchronous = FULL");
  try {
    return change();
  } finally {
    database.exec("PRAGMA synchronous = NORMAL");
  }
}

/** The prepared statements for transactions of each database. */
const statements = new WeakMap<DatabaseSync, { readonly begin: StatementSync; readonly commit: StatementSync }>();

function statementsOf(database: DatabaseSync): { readonly begin: StatementSync; readonly commit: StatementSync } {
  const known = statements.get(database);
  if (known) return known;
  const prepared = { begin: database.prepare("BEGIN IMMEDIATE"), commit: database.prepare("COMMIT") };
  statements.set(database, prepared);
  return prepared;
}

/** Runs a change in a transaction, or as a part of the present one. If it throws, everything is rolled back. */
export function inTransaction<T>(database: DatabaseSync, change: () => T): T {
  if (database.isTransaction) return change();
  const { begin, commit } = statementsOf(database);
  begin.run();
  try {
    const result = change();
    commit.run();
    return result;
  } catch (error) {
    // SQLite may have ended the transaction already, for instance because the disk is full.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Begins a durable transaction. @returns false while another process has locked the database; later it throws */
function tryToBegin(database: DatabaseSync, untilMs: number): boolean {
  try {
    database.exec("PRAGMA synchronous = FULL; BEGIN IMMEDIATE");
    return true;
  } catch (error) {
    database.exec("PRAGMA synchronous = NORMAL");
    if (isLocked(error) && performance.now() < untilMs) return false;
    throw error;
  }
}

/** The end of the last transaction of `transactor` in this process. */
let lastEnd: Promise<unknown> = Promise.resolve();

/**
 * Returns a function that runs work in one transaction, which is on the disk when the call resolves. The work must wait for
 * nothing but calls of stores on this connection: they are finished when they return, so the work ends before any other
 * part of the process gets its turn. Calls wait for each other, also those of other connections.
 * @param onEnd called after each transaction, also if it was rolled back
 */
export function transactor(database: DatabaseSync, onEnd: () => void): <T>(work: () => Promise<T>) => Promise<T> {
  const run = async <T>(work: () => Promise<T>, untilMs: number): Promise<T> => {
    // Nothing may come between the begin and the work.
    while (!tryToBegin(database, untilMs)) await wait(lockedRetryMs);
    try {
      const result = await work();
      database.exec("COMMIT");
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    } finally {
      database.exec("PRAGMA synchronous = NORMAL");
      onEnd();
    }
  };
  return (work) => {
    const untilMs = performance.now() + maxLockedMs;
    const result = lastEnd.then(() => run(work, untilMs));
    lastEnd = result.catch(() => undefined);
    return result;
  };
}
