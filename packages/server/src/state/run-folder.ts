import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/**
 * A temporary folder for sockets, whose paths must be short. The data folder contains its path, so the next server can
 * remove the run folder of a dead one.
 */
export class RunFolder implements Disposable {
  readonly path: string;
  readonly #note: string;

  private constructor(path: string, note: string) {
    this.path = path;
    this.#note = note;
  }

  /** Creates the folder. Only the server that holds the lock of the data folder may call it. */
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

/** Removes the folder that the note names, if it has the name of a run folder and belongs to the user of this process. */
function removeLeft(note: string): void {
  const path = existsSync(note) ? readFileSync(note, "utf8").trim() : "";
  const left = lstatSync(path, { throwIfNoEntry: false });
  const isOurs = left?.isDirectory() && left.uid === process.getuid?.();
  if (isOurs && /^parley-\w{6}$/.test(basename(path))) rmSync(path, { recursive: true, force: true });
}
