import type { Command } from "commander";
import { environmentKey } from "../auth/find-caller.ts";
import type { KeyStore } from "../auth/key-store.ts";
import { findModel } from "../config/find-model.ts";
import type { Config } from "../config/read-config.ts";
import type { EntrySelection } from "../metering/usage-ledger.ts";
import { findKeyId } from "./find-key.ts";
import { readPast } from "./read-argument.ts";

export interface SelectionFlags {
  readonly since?: number;
  readonly until?: number;
  readonly key?: string;
  readonly model?: string;
}

export const addSelectionFlags = (command: Command): Command =>
  command
    .option("--since <when>", "from a date (2026-11-01, UTC) or a time ago (7d, 12h) on", readPast)
    .option("--until <when>", "before a date or a time ago", readPast)
    .option("--key <key>", "of one key: its id or its name")
    .option("--model <id>", "of one model: any of its names");

/** @param names of keys, by id */
export const toSelection = (
  { since: sinceMs, until: untilMs, key, model }: SelectionFlags,
  { models }: Config,
  names: ReadonlyMap<string, string>,
): EntrySelection => ({
  sinceMs,
  untilMs,
  keyId: key === undefined ? undefined : findKeyId(names, key),
  // A model that is served no longer is still in the ledger.
  model: model === undefined ? undefined : (findModel(models, model)?.id ?? model),
});

/** The names of all keys that a ledger may hold, by id: those that were deleted, and the one that is never stored. */
export async function keyNames(keys: KeyStore): Promise<ReadonlyMap<string, string>> {
  return new Map([...(await keys.names()), [environmentKey, "PARLEY_API_KEY"]]);
}
