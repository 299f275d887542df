import { accessSync, constants, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Baseline } from "../run/baseline.ts";
import { readJsonFile } from "./read-json-file.ts";

/**
 * Reads a baseline.
 * @param today as YYYY-MM-DD
 * @throws Error with one sentence if the file is not a baseline, names an unknown clause, or allows a failure until a past date
 */
export function readBaseline(file: string, today: string): Baseline {
  const baseline = readJsonFile(file, "baseline.schema.json") as Baseline; // the schema has been checked
  const past = baseline.known.find(({ expires }) => expires < today);
  if (past)
    throw new Error(
      `${file}: ${past.clause} was allowed until ${past.expires}, which is past; remove the entry, or give it a later date.`,
    );
  return baseline;
}

/**
 * Finds out before a run if a baseline can be written after it.
 * @throws Error with one sentence if it cannot
 */
export function assertWritable(file: string): void {
  const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder) throw new Error(`--write-baseline ${file} is a folder: name a file.`);
  try {
    accessSync(dirname(resolve(file)), constants.W_OK);
  } catch {
    throw new Error(`--write-baseline ${file} cannot be written: name a file in a folder that exists.`);
  }
}

/** Writes a baseline as `--baseline` reads it. */
export const writeBaseline = (file: string, baseline: Baseline): void =>
  writeFileSync(file, `${JSON.stringify(baseline, undefined, 2)}\n`);
