import { rmSync } from "node:fs";
import { join } from "node:path";
import { growDatabase, parley } from "@parley/server/testing";
import { chat, play } from "../ask.ts";
import { aim, bound } from "../row.ts";
import type { Row } from "../row.ts";
import { repeatedly } from "../sockets.ts";

const steady = [
  { role: true as const },
  { repeat: 600, steps: [{ text: "a " }, { wait_ms: 20 }] },
  { finish: "stop" as const },
];

async function backUp(run: (...args: string[]) => Promise<{ code: number | string | null }>, dataDir: string) {
  const file = join(dataDir, "copy.db");
  const startedMs = performance.now();
  const { code } = await run("backup", file);
  rmSync(file, { force: true });
  return { code, tookMs: performance.now() - startedMs };
}

export const ledgerBackup: Row = {
  name: "ledger/backup",
  action: "parley backup of a ledger of 295 MB beside three streams",
  engine: "scripted",
  scenarios: { steady },
  prepare: async ({ dataDir, isShort }) => {
    growDatabase(dataDir, isShort ? 30e6 : 295e6);
    const run = (...args: string[]) => parley([...args, "--data-dir", dataDir], { cwd: dataDir });
    return { idleMs: (await backUp(run, dataDir)).tookMs };
  },
  attack: async ({ target, signal, makeKey, parley: run }) => {
    const { token } = await makeKey();
    const end = new AbortController();
    const streams = repeatedly(3, end.signal, () =>
      chat(target.origin, token, { ...play("steady"), stream: true }, { signal: end.signal }),
    );
    const busyMs: number[] = [];
    let failures = 0;
    do {
      const { code, tookMs } = await backUp(run, target.dataDir);
      busyMs.push(tookMs);
      if (code !== 0) failures += 1;
    } while (!signal.aborted);
    end.abort();
    await streams;
    const { idleMs = 0 } = target.prepared;
    const slowest = Math.max(...busyMs);
    return [
      bound("every backup succeeds", failures === 0, `${failures} of ${busyMs.length} failed`),
      aim(
        "the slowest backup takes at most twice its idle time",
        slowest <= 2 * idleMs,
        `${Math.round(slowest)} ms of ${busyMs.length}, idle ${Math.round(idleMs)} ms`,
      ),
    ];
  },
};
