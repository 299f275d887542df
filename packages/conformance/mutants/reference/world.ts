import type { Engine } from "./engine.ts";
import type { Key } from "./keys.ts";
import type { Repeatable } from "./repeated.ts";
import type { Mutant, Row, Settings } from "./mutant.ts";

/** The state of the reference server. */
export interface World {
  readonly mutant: Mutant;
  readonly settings: Settings;
  readonly keys: ReadonlyMap<string, Key>;
  readonly engine: Engine;
  readonly rows: Row[];
  /** The requests with an idempotency key, by API key and name. */
  readonly repeatable: Map<string, Repeatable>;
  /** By request id. */
  readonly receipts: Map<string, { readonly key: Key; readonly receipt: unknown }>;
  /** The long prompts so far, each with its key. */
  readonly cached: Set<string>;
  running: number;
  waiting: number;
  created: number;
}
