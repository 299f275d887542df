import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import type { Change } from "./change.ts";
import { judgeDocument } from "./judge-document.ts";
import { judgeWords } from "./judge-words.ts";

export const releasedFile = join(root, "openapi/released/contract.json");
export const currentFile = join(root, "packages/contract/src/generated/contract.json");

/** The contract of the admin API: the bundle of the last release, if that has one, and that of now. */
export const adminFiles = {
  released: join(root, "openapi/released/admin.json"),
  current: join(root, "packages/contract/src/generated/admin.json"),
} as const;

type Bundle = Readonly<Record<string, unknown>> & { readonly info: { readonly version: string } };

/** The differences between two contracts, with the versions of both. */
export interface ContractChanges {
  readonly changes: readonly Change[];
  readonly before: string;
  readonly now: string;
}

/** Compares the bundle of a contract with that of another one. */
export function findChanges(against = releasedFile, of = currentFile): ContractChanges {
  const [released, current] = [read(against), read(of)];
  const changes = [...judgeDocument(against, of), ...judgeWords(released, current)];
  return { changes, before: released.info.version, now: current.info.version };
}

const read = (file: string): Bundle => JSON.parse(readFileSync(file, "utf8")) as Bundle; // a bundle has been linted
