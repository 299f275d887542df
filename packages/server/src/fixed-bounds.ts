import { maxPathLength } from "./edge/exchange.ts";
import { placesForProbes } from "./edge/socket-places.ts";
import { maxMetricsSockets } from "./listener.ts";
import { maxWaitingBytes } from "./observe/log-output.ts";
import { maxLines } from "./observe/refusal-sample.ts";
import { maxCached } from "./state/sqlite-key-store.ts";

/** Bounds of the service that are neither in the contract nor settings, as [value, unit, description]. */
export const fixedBounds = [
  [
    placesForProbes,
    "connections",
    "kept beyond the bounds for `/health` and `/ready`; the oldest one there makes room for a newcomer",
  ],
  [maxMetricsSockets, "connections", "of the port of the metrics"],
  [maxWaitingBytes, "bytes", "of the log that wait to be written; further lines are lost and counted"],
  [maxPathLength, "characters", "of a path in the log"],
  [maxLines, "lines a minute", "of the log for refusals of callers without a valid key"],
  [maxCached, "keys", "in the cache of keys that were found"],
] as const satisfies readonly (readonly [value: number, unit: string, description: string])[];
