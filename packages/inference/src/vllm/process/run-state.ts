import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { killGroup, membersOf, sharedMemoryOf, startTicksOf } from "./process-group.ts";

/**
 * The data needed to clear the orphans of a run. When vLLM's API process or the server is killed, the engine core and workers
 * live on, and shared memory outlives all of them.
 */
interface RunState {
  /** The leader of the process group. */
  readonly group: number;
  /** When the leader was started, in clock ticks since boot: distinguishes it from a later process with the same number. */
  readonly startTicks: number;
  /** The folder of its sockets and temporary files. */
  readonly folder: string;
  /** Its segments of shared memory. */
  readonly shared: readonly string[];
}

/** The run state of one engine, in a file that outlives the server. */
export class RunStateFile {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  write(group: number, folder: string): void {
    this.#save({ group, startTicks: startTicksOf(group) ?? 0, folder, shared: [] });
  }

  /** Must be called while all of its processes live. Afterwards, segments can no longer be attributed. */
  noteSharedMemory(): void {
    const state = this.#read();
    if (state) this.#save({ ...state, shared: sharedMemoryOf(membersOf(state)) });
  }

  /** Kills the orphans of the recorded run and deletes its files. Resolves with a description of everything found. */
  async clearOrphans(): Promise<readonly string[]> {
    const state = this.#read();
    if (!state) return [];
    const orphans = membersOf(state);
    const shared = new Set([...state.shared, ...sharedMemoryOf(orphans)]);
    if (orphans.length > 0) await killGroup(state);
    const segments = [...shared].filter((path) => existsSync(path));
    for (const path of [...segments, state.folder, this.#file]) rmSync(path, { recursive: true, force: true });
    return [
      ...orphans.map(({ pid }) => `process ${pid}`),
      ...segments.map((path) => `shared memory ${basename(path)}`),
    ];
  }

  #read(): RunState | undefined {
    try {
      return JSON.parse(readFileSync(this.#file, "utf8")) as RunState; // written by us
    } catch {
      return undefined; // there was no run, or the file was truncated when we were killed
    }
  }

  #save(state: RunState): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    // A full disk must not destroy the state that is there: write a new file first, then replace.
    const fresh = `${this.#file}.new`;
    writeFileSync(fresh, JSON.stringify(state), { mode: 0o600 });
    renameSync(fresh, this.#file);
  }
}
