import { statSync } from "node:fs";
import { ask } from "../ask.ts";
import { bound, figure } from "../row.ts";
import type { Attack, Finding, Row } from "../row.ts";
import { repeatedly, Tally } from "../sockets.ts";

const longPath = `/${"x".repeat(8000)}`;

async function floodPaths({ target, signal }: Attack): Promise<Tally> {
  const answers = new Tally();
  await repeatedly(8, signal, async () => answers.add((await ask({ url: target.origin + longPath })).status));
  return answers;
}

export const logFullDisk: Row = {
  name: "log/full-disk",
  action: "without a key: paths of 8 KB, while the log goes to a full disk",
  engine: "scripted",
  logTo: "/dev/full",
  attack: async (attack) => [figure("answers", String(await floodPaths(attack)))],
};

/** Bound on the log: 600 lines a minute of at most a kilobyte each, plus the lines of the neighbour. */
const maxLogBytes = 2_000_000;

export const logLongPaths: Row = {
  name: "log/long-paths",
  action: "without a key: paths of 8 KB, to fill the disk with log",
  engine: "scripted",
  attack: async (attack): Promise<Finding[]> => {
    const { logFile } = attack.target;
    const before = statSync(logFile).size;
    const answers = await floodPaths(attack);
    const grown = statSync(logFile).size - before;
    return [
      figure("answers", String(answers)),
      bound(`bytes of log, at most ${maxLogBytes}`, grown <= maxLogBytes, grown),
    ];
  },
};
