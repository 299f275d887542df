import { pino } from "pino";
import type { Logger } from "pino";
import { LogOutput } from "./log-output.ts";

export type Log = Logger;

/** The log of a process, with its counter of lost lines and its end. */
export interface ProcessLog {
  readonly log: Log;
  /** Returns the number of lines that could not be written since the start. */
  readonly lostLines: () => number;
  /** Writes a line of another process, as JSON. */
  readonly write: (line: string) => void;
  /** Writes the waiting lines, for at most `withinMs` milliseconds. Later lines are ignored. */
  readonly end: (withinMs: number) => Promise<void>;
}

/** Creates a log that writes one line per event to standard output, as JSON or as text for people. */
export function createLog(level: string, format: "json" | "text"): ProcessLog {
  const output = new LogOutput(process.stdout.fd, (lost) =>
    log.warn({ lost_lines: lost }, "lines of this log were lost, because standard output could not be written"),
  );
  const write = (line: string): void => output.write(format === "json" ? line : toText(line));
  const log = createLines(level, null, write);
  return { log, lostLines: () => output.lost, write, end: (withinMs) => output.end(withinMs) };
}

/** Creates a log that hands over each line as JSON. @param base members of every line */
export const createLines = (level: string, base: Record<string, unknown> | null, write: (line: string) => void): Log =>
  pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
    },
    { write },
  );

/** Width of the terminal, in characters. */
const columns = 120;
/** The width of the time and the level, after which the text begins. */
const indent = 15;

type Fields = Readonly<Record<string, unknown>>;

/** Turns a JSON line of the log into text for people. Of a request it shows only the most useful fields. */
export function toText(line: string): string {
  const { level, time, msg, err, last_words: lastWords, ...fields } = JSON.parse(line) as Fields; // pino wrote it
  const text = msg === "request" ? describeRequest(fields) : `${shown(msg)} ${listFields(fields)}`;
  const stack = typeof err === "object" && err !== null && "stack" in err ? `\n${String(err.stack)}` : "";
  const words = lastWords === undefined ? "" : `\n${shown(lastWords)}`;
  return `${shown(time).slice(11, 19)} ${shown(level).padEnd(5)} ${wrap(text.trim())}${words}${stack}\n`;
}

function describeRequest({ request_id, method, path, status, duration_ms, model, ...fields }: Fields): string {
  const { prompt_tokens, completion_tokens, error_code, outcome } = fields;
  const tokens = completion_tokens === undefined ? undefined : `${shown(prompt_tokens)}+${shown(completion_tokens)}`;
  const end = error_code ?? (outcome === "complete" ? undefined : outcome);
  const words = [method, path, status, `${shown(duration_ms)}ms`, model, tokens, end, request_id];
  return words.flatMap((word) => (word === undefined ? [] : [shown(word)])).join(" ");
}

const listFields = (fields: Fields): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key}=${shown(value)}`)
    .join(" ");

const shown = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** Wraps a text, between words if possible. */
function wrap(text: string): string {
  const width = columns - indent;
  const lines = text.match(new RegExp(`.{1,${width}}(?= |$)|.{1,${width}}`, "g")) ?? [];
  return lines.map((line) => line.trim()).join(`\n${" ".repeat(indent)}`);
}
