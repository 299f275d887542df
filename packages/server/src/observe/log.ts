import { pino } from "pino";
import type { Logger } from "pino";
import { LogOutput } from "./log-output.ts";
import { toText } from "./log-text.ts";

export type Log = Logger;

/** The log of a process, and what a process has to know about how it is written. */
export interface ProcessLog {
  readonly log: Log;
  /** How many lines could not be written since the start. */
  readonly lostLines: () => number;
  /** Writes the waiting lines, for at most `withinMs` milliseconds. Later lines are ignored. */
  readonly end: (withinMs: number) => Promise<void>;
}

/** One structured line per event on standard output; on a terminal, one that people can read. */
export function createLog(level: string, format: "json" | "text"): ProcessLog {
  const output = new LogOutput(process.stdout.fd, (lost) =>
    log.warn({ lost_lines: lost }, "lines of this log were lost, because standard output could not be written"),
  );
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const log = pino(options, { write: (line) => output.write(format === "json" ? line : toText(line)) });
  return { log, lostLines: () => output.lost, end: (withinMs) => output.end(withinMs) };
}
