import type { Settings } from "./settings.ts";

/** What models are read with. */
export interface Reading {
  readonly settings: Settings;
  /** For the credentials of upstreams; undefined where nothing is started, so that none is needed. */
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
  /** Takes a sentence for everything that is wrong. */
  readonly faults: string[];
}
