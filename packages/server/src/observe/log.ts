import { pino } from "pino";
import type { Logger } from "pino";
import { toText } from "./log-text.ts";

export type Log = Logger;

/** One structured line per event on standard output; on a terminal, one that people can read. */
export function createLog(level: string, format: "json" | "text"): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return format === "json"
    ? pino(options)
    : pino(options, { write: (line) => void process.stdout.write(toText(line)) });
}
