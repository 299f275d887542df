import { pino } from "pino";
import type { Logger } from "pino";

export type Log = Logger;

/** One structured line per event on standard output; on a terminal, one that people can read. */
export function createLog(level: string, format: "json" | "text"): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return format === "json"
    ? pino(options)
    : pino(options, { write: (line) => void process.stdout.write(toText(line)) });
}

function toText(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>; // pino wrote it
  const name = pino.levels.labels[Number(level)] ?? "";
  const details = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const stack = typeof err === "object" && err !== null && "stack" in err ? `\n${String(err.stack)}` : "";
  return (
    `${String(time).slice(11, 19)} ${name.padEnd(5)} ${typeof msg === "string" ? msg : ""} ${details.join(" ")}`.trimEnd() +
    `${stack}\n`
  );
}
