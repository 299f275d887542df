import type { Settings } from "./settings.ts";

/** The inputs for reading models, and the faults found. */
export interface Reading {
  readonly settings: Settings;
  /** Contains the tokens of upstreams. Undefined if nothing will be started, so no token is needed. */
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
  /** Receives a sentence for each fault. */
  readonly faults: string[];
}
