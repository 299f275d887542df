import { readFileSync, writeFileSync } from "node:fs";
import { miniModelFile } from "./start-engines.ts";

/** Copies the mini model's file, and replaces spellings in its header by others of the same length. */
export function respell(path: string, spellings: Readonly<Record<string, string>>): void {
  const bytes = readFileSync(miniModelFile);
  for (const [from, to] of Object.entries(spellings)) {
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) bytes.write(to, at);
  }
  writeFileSync(path, bytes);
}

/** Copies the beginning of the mini model's file. */
export function truncate(path: string, keep: (size: number) => number): void {
  const bytes = readFileSync(miniModelFile);
  writeFileSync(path, bytes.subarray(0, keep(bytes.length)));
}
