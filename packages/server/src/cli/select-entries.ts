import type { Command } from "commander";
import { environmentKey } from "../accounts/keys/find-caller.ts";
import type { KeyStore } from "../accounts/keys/key-store.ts";
import { findModel } from "../config/find-model.ts";
import type { Config } from "../config/read-config.ts";
import type { EntrySelection } from "../accounts/ledger/usage-ledger.ts";
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
    .option("--since <when>", "only requests since a date (2026-11-01, UTC) or a time ago (7d, 12h)", readPast)
    .option("--until <when>", "only requests before a date or a time ago", readPast)
    .option("--key <key>", "only requests of this key (id or name)")
    .option("--model <id>", "only requests for this model (any of its names)");

/** Returns the selection that the flags describe. @param names names of keys by id */
export const toSelection = (
  { since: sinceMs, until: untilMs, key, model }: SelectionFlags,
  { models }: Config,
  names: ReadonlyMap<string, string>,
): EntrySelection => ({
  sinceMs,
  untilMs,
  keyId: key === undefined ? undefined : findKeyId(names, key),
  // The ledger may contain models that are no longer served.
  model: model === undefined ? undefined : (findModel(models, model)?.id ?? model),
});

/**
 * Returns the names of all keys that a ledger may contain, by id. They include deleted keys, and the key of PARLEY_API_KEY,
 * which is never stored.
 */
export async function keyNames(keys: KeyStore): Promise<ReadonlyMap<string, string>> {
  return new Map([...(await keys.names()), [environmentKey, "PARLEY_API_KEY"]]);
}
