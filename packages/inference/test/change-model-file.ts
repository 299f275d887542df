import { readFileSync, writeFileSync } from "node:fs";
import { miniModelFile } from "./start-engines.ts";

/** The mini model's file with some spellings replaced by others of the same length, wherever its header has them. */
export function respell(path: string, spellings: Readonly<Record<string, string>>): void {
  const bytes = readFileSync(miniModelFile);
  for (const [from, to] of Object.entries(spellings)) {
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) bytes.write(to, at);
  }
  writeFileSync(path, bytes);
}

/** The mini model's file without its end. */
export function truncate(path: string, keep: (size: number) => number): void {
  const bytes = readFileSync(miniModelFile);
  writeFileSync(path, bytes.subarray(0, keep(bytes.length)));
}
