import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The requests that are being answered. */
export interface Activity {
  readonly running: number;
}

export interface ReturnOptions {
  /** How often it checks whether there is memory to return, in milliseconds. */
  readonly everyMs?: number;
  /** How busy the event loop has been since the last check: from 0, idle, to 1, busy all the time. */
  readonly busyShare?: () => number;
  /** The resident memory of this process, in bytes. */
  readonly residentBytes?: () => number;
  readonly collect?: () => Promise<void>;
}

/** Less memory than this is not worth a collection, which may stop the event loop for a tenth of a second. */
export const leastBytes = 64 * 1024 * 1024;

/** A server whose event loop is less busy than this is quiet. Probes, or a few requests a second, keep it below. */
export const mostBusyShare = 0.02;

/**
 * Gives memory back to the system when the server is quiet. V8 does this for programs that it considers idle, but it does not consider
 * a quiet server idle. After twice 5,000 streams, a server still held 605 MB.
 */
export class MemoryReturn implements Disposable {
  readonly #activity: Activity;
  readonly #options: Required<Omit<ReturnOptions, "everyMs">>;
  readonly #timer: NodeJS.Timeout;
  /** The resident memory after the last collection; before the first one, that at the start. */
  #keptBytes: number;
  #isCollecting = false;

  constructor(activity: Activity, { everyMs = 10_000, ...given }: ReturnOptions = {}) {
    this.#activity = activity;
    this.#options = {
      busyShare: loopBusyShare(),
      residentBytes: () => process.memoryUsage.rss(),
      collect: collectGarbage,
      ...given,
    };
    this.#keptBytes = this.#options.residentBytes();
    this.#timer = setInterval(() => void this.#look(), everyMs).unref();
  }

  async #look(): Promise<void> {
    const { busyShare, residentBytes, collect } = this.#options;
    const isQuiet = busyShare() < mostBusyShare && this.#activity.running === 0;
    if (!isQuiet || this.#isCollecting || residentBytes() - this.#keptBytes < leastBytes) return;
    this.#isCollecting = true;
    await collect();
    this.#isCollecting = false;
    this.#keptBytes = residentBytes();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** @returns a function that tells how busy the event loop has been since it was called last, from 0 to 1 */
function loopBusyShare(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}

type CollectGarbage = (options: object) => Promise<void>;

let gc: CollectGarbage | undefined;

/** Only a collection of last resort gives back the pages that V8 keeps for later. */
async function collectGarbage(): Promise<void> {
  if (gc === undefined) {
    setFlagsFromString("--expose-gc");
    gc = runInNewContext("gc") as CollectGarbage; // as the flag defines it
  }
  await gc({ type: "major", execution: "async", flavor: "last-resort" });
}
