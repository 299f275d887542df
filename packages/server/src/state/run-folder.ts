import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/**
 * A folder for sockets, whose paths have to be short. It is noted in the data folder, so that the next server removes what a
 * dead one has left.
 */
export class RunFolder implements Disposable {
  readonly path: string;
  readonly #note: string;

  private constructor(path: string, note: string) {
    this.path = path;
    this.#note = note;
  }

  /** To be called by the server that holds the lock of the data folder. */
  static make(dataDir: string): RunFolder {
    const note = join(dataDir, "run-folder");
    removeLeft(note);
    const path = mkdtempSync(join(tmpdir(), "parley-"));
    writeFileSync(note, `${path}\n`, { mode: 0o600 });
    return new RunFolder(path, note);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
    rmSync(this.#note, { force: true });
  }
}

/** Removes the folder that the note names, if its name is that of a run folder and it belongs to our user. */
function removeLeft(note: string): void {
  const path = existsSync(note) ? readFileSync(note, "utf8").trim() : "";
  const left = lstatSync(path, { throwIfNoEntry: false });
  const isOurs = left?.isDirectory() && left.uid === process.getuid?.();
  if (isOurs && /^parley-\w{6}$/.test(basename(path))) rmSync(path, { recursive: true, force: true });
}
