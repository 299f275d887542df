import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { dropStores } from "@parley/server/testing";
import type { CliProcess } from "@parley/server/testing";

export interface TestFolder {
  /** Returns the path of the folder. It is deleted after the tests of the file. */
  readonly path: () => string;
  /** Returns the path of a new data folder, which does not exist yet. */
  readonly fresh: () => string;
  /** Returns settings for a start with a stub engine and free ports, unless `env` has others. */
  readonly quick: (env?: Readonly<Record<string, string>>) => QuickStart;
}

interface QuickStart {
  readonly cwd: string;
  readonly env: { readonly PARLEY_DATA_DIR: string; readonly [name: string]: string };
}

/** A folder for the servers of one test file, which are started as processes. */
export function useFolder(): TestFolder {
  let path = "";
  let folders = 0;
  beforeAll(() => {
    path = mkdtempSync(join(tmpdir(), "parley-cli-"));
  });
  afterAll(() => {
    dropStores(path);
    rmSync(path, { recursive: true, force: true });
  });
  const fresh = (): string => join(path, `data-${(folders += 1)}`);
  const quick = (env: Readonly<Record<string, string>> = {}): QuickStart => ({
    cwd: path,
    env: { PARLEY_ENGINE: "scripted", PARLEY_DATA_DIR: fresh(), PORT: "0", PARLEY_METRICS_PORT: "0", ...env },
  });
  return { path: () => path, fresh, quick };
}

/** Waits until a server is ready, and returns the base URL that it prints. */
export const baseUrlOf = async (server: CliProcess): Promise<string> =>
  (await server.says(/Base URL\s+(\S+)/))[1] ?? "";
