import { pino } from "pino";
import type { Logger } from "pino";
import { LogOutput } from "./log-output.ts";
import { toText } from "./log-text.ts";

export type Log = Logger;

/** The log of a process, with its counter of lost lines and its end. */
export interface ProcessLog {
  readonly log: Log;
  /** Returns the number of lines that could not be written since the start. */
  readonly lostLines: () => number;
  /** Writes the waiting lines, for at most `withinMs` milliseconds. Later lines are ignored. */
  readonly end: (withinMs: number) => Promise<void>;
}

/** Creates a log that writes one line per event to standard output, as JSON or as text for people. */
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
