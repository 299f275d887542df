import { setImmediate as nextRound } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void; // the flag makes it

/** Collects all garbage. A `WeakRef` keeps its target until the current round of the event loop ends, so it waits for that. */
export async function collectGarbage(): Promise<void> {
  await nextRound();
  collect();
}
