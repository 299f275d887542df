import { accessSync, constants, existsSync, mkdirSync, openSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { databaseFile } from "./database-file.ts";
import { StateError } from "./state-error.ts";

/**
 * Creates a file that only its owner may read.
 * @returns its descriptor
 * @throws {Error} with a message for the operator, if the file exists or its folder does not
 */
export function createPrivateFile(file: string): number {
  try {
    return openSync(file, "wx", 0o600);
  } catch (error) {
    throw new Error(adviseOnFile(file, error instanceof Error && "code" in error ? error.code : undefined), {
      cause: error,
    });
  }
}

function adviseOnFile(file: string, code: unknown): string {
  if (code === "EEXIST") return `${file} exists already. Name another file, so that nothing is overwritten.`;
  if (code === "ENOENT") return `There is no folder ${dirname(file)}. Make it first, or name another file.`;
  if (code === "EACCES" || code === "EROFS")
    return `The folder ${dirname(resolve(file))} cannot be written by ${ownName()}. Name a file in another folder.`;
  if (code === "ENOSPC") return "The disk is full. Make room.";
  return `${file} cannot be written (${String(code)}). Name another file.`;
}

/**
 * Makes a folder that only its owner can read, and its parents. Node's own recursive mode never ends where the system refuses a
 * folder as if its parent were missing, as below `/proc`.
 */
export function makePrivateFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(resolve(path));
  if (!existsSync(parent)) makePrivateFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(path)) throw error;
  }
}

/**
 * Root can write in every data folder, but the server of another user could not open what root has written. A folder of another
 * user is therefore left alone.
 * @throws {StateError} with the command for that user
 */
export function assertOwner(dataDir: string): void {
  if (process.getuid?.() !== 0) return;
  const file = databaseFile(dataDir);
  const { uid } = statSync(existsSync(file) ? file : dataDir, { throwIfNoEntry: false }) ?? {};
  if (uid === undefined || uid === 0) return;
  throw new StateError(
    `The data folder ${dataDir} belongs to user ${uid}, whose server could not open what root writes there. Run the command as that user: sudo -u '#${uid}' …`,
  );
}

/** Returns the error of a data folder that could not be used, with the reason and the remedy. */
export const unusableFolder = (dataDir: string, cause: unknown): StateError =>
  new StateError(
    `The data folder ${dataDir} cannot be used: ${whyUnusable(dataDir, cause)} PARLEY_DATA_DIR can name another one.`,
    { cause },
  );

/**
 * Explains to the operator why a file or folder could not be used.
 * @returns a sentence or two, which end with the remedy
 */
export function whyUnusable(path: string, error: unknown): string {
  const reason = reasonOf(error);
  const existing = nearestExisting(path);
  if (/ENOSPC|disk is full/.test(reason) || (reason.includes("disk I/O error") && isFull(existing)))
    return "The disk is full. Make room.";
  if (!statSync(existing).isDirectory()) return `${existing} is not a folder.`;
  const inIt = databaseFile(existing);
  const denied = [inIt, existing].find((one) => existsSync(one) && denialOf(one) !== undefined);
  if (denied === undefined) return `${reason}.`;
  if (denialOf(denied) === "EROFS") return `${denied} is on a read-only file system. Mount a volume there.`;
  const { uid, gid, mode } = statSync(denied);
  const [ownUid, ownGid] = [process.getuid?.(), process.getgid?.()];
  const remedy = existsSync(path)
    ? `chown -R ${ownUid}:${ownGid} ${existing}`
    : `install -d -m 700 -o ${ownUid} -g ${ownGid} ${path}`;
  return `${denied} belongs to user ${uid}:${gid} (mode ${(mode & 0o777).toString(8)}), and this process is ${ownName()}. Run as that user, or run this as root: ${remedy}.`;
}

/** Names the user of this process for the operator. */
export const ownName = (): string => `user ${process.getuid?.()}:${process.getgid?.()}`;

/** Bytes that SQLite needs to open a database: its shared memory, and the first pages of a log. */
const minFreeBytes = 65_536;

/** Checks whether the disk has too little room to open a database on it. @param existing a file or folder */
export function isFull(existing: string): boolean {
  const { bavail, bsize } = statfsSync(existing);
  return bavail * bsize < minFreeBytes;
}

/**
 * Returns the code of the error with which the system refuses to let this process use a file or folder; undefined if it may.
 * @param mode constants of `node:fs`
 */
export function denialOf(path: string, mode = constants.R_OK | constants.W_OK): unknown {
  try {
    accessSync(path, mode | (statSync(path).isDirectory() ? constants.X_OK : 0));
    return undefined;
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  }
}

/** Returns the path itself if it exists, otherwise its nearest existing parent folder. */
export function nearestExisting(path: string): string {
  const absolute = resolve(path);
  return existsSync(absolute) ? absolute : nearestExisting(dirname(absolute));
}

/** Returns the reason of a failure. SQLite reports its kind in `message` and its meaning in `errstr`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const meaning = "errstr" in error ? String(error.errstr) : "";
  return meaning === "" || meaning === error.message ? error.message : `${error.message}: ${meaning}`;
}
