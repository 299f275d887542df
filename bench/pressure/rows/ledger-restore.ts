import { join } from "node:path";
import { CliProcess, parley, readLedger } from "@parley/server/testing";
import { chat } from "../ask.ts";
import { bound } from "../row.ts";
import type { Finding, Row } from "../row.ts";

const key = "key-of-the-second-server-0123";

/** Makes a backup, adds traffic, kills the server with SIGKILL and restores. @returns the number of entries then; the backup has one */
async function killAndRestore(folder: string, file: string): Promise<number> {
  const dataDir = join(folder, "restored");
  const env = { PARLEY_ENGINE: "scripted", PARLEY_DATA_DIR: dataDir, PARLEY_API_KEY: key, PORT: "0" };
  {
    await using server = new CliProcess(["start"], { cwd: folder, env: { ...env, PARLEY_METRICS_PORT: "off" } });
    const [, base = ""] = await server.says(/Base URL\s+(\S+)/);
    await chat(new URL(base).origin, key);
    await parley(["backup", file, "--data-dir", dataDir], { cwd: folder });
    await chat(new URL(base).origin, key);
    server.child.kill("SIGKILL");
  }
  await parley(["restore", file, "--data-dir", dataDir], { cwd: folder });
  return (await readLedger(dataDir)).length;
}

export const ledgerRestore: Row = {
  name: "ledger/restore",
  action: "a restore beside the server, and one of another server after kill -9",
  engine: "scripted",
  attack: async ({ target, parley: run }): Promise<Finding[]> => {
    const file = join(target.dataDir, "copy.db");
    const entries = await killAndRestore(target.dataDir, file);
    const { code } = await run("restore", file);
    return [
      bound("a restore leaves the backup in effect and nothing newer", entries === 1, `${entries} entries of 1`),
      bound("a restore beside a running server is refused", code === 1, `exit code ${code}`),
    ];
  },
};
