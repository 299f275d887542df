import { maxPathLength } from "./http/exchange.ts";
import { placesForProbes } from "./sockets/socket-places.ts";
import { maxMetricsSockets } from "./sockets/listener.ts";
import { maxWaitingBytes } from "./observe/log-output.ts";
import { maxLines } from "./observe/refusal-sample.ts";
import { maxCached } from "./state/sqlite-key-store.ts";

export { startServer } from "./server.ts";
export type { RunningServer, ServerOptions } from "./server.ts";
export { makeConfig, readConfig } from "./config/read-config.ts";
export type { Config, ConfigChanges } from "./config/read-config.ts";
export { createLog } from "./observe/log.ts";
export { createKey } from "./accounts/keys/issue-key.ts";
export { isReloaded } from "./config/reload.ts";
export { configSchema } from "./config/config-schema.ts";
export { defaultNames, defaultsOf, modelShortcuts } from "./config/default-models.ts";
export { describe, toText } from "./config/setting.ts";
export type { Setting, ValueSchema } from "./config/setting.ts";
export { settingNames, settings } from "./config/settings.ts";

/** Bounds that are neither in the contract nor settings, as [value, unit, description]. */
export const fixedBounds = [
  [
    placesForProbes,
    "connections",
    "beyond the other bounds, for `/health` and `/ready`; a further one replaces the oldest",
  ],
  [maxMetricsSockets, "connections", "to the port of the metrics"],
  [maxWaitingBytes, "bytes", "of the log that may wait to be written; further lines are lost and counted"],
  [maxPathLength, "characters", "of a path in the log"],
  [maxLines, "lines a minute", "of the log for refusals of callers without a valid key"],
  [maxCached, "keys", "in the cache of API keys"],
] as const satisfies readonly (readonly [value: number, unit: string, description: string])[];
