import { judge } from "./judge-row.ts";
import type { Measured } from "./judge-row.ts";
import { largest, quantile } from "./neighbour.ts";
import type { Series } from "./neighbour.ts";

const heads = [
  "row",
  "engine",
  "chat alone",
  "chat attacked",
  "lost",
  "/health alone",
  "attacked",
  "memory",
  "verdict",
];

/** Writes a table with one row per attack, and below it the findings of the attacks. Times are p50/p95/most, in ms. */
export function toTable(all: readonly Measured[]): string {
  const cells = [heads, ...all.map(toCells)];
  const widths = heads.map((_head, column) => largest(cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const [head = "", ...rest] = lines;
  return [head, ...rest.flatMap((line, index) => [line, ...(all[index] ? notesOf(all[index]) : [])])].join("\n");
}

function toCells(measured: Measured): string[] {
  const { row, alone, attacked, grownBytes } = measured;
  return [
    row.name,
    row.engine,
    times(alone.chat),
    times(attacked.chat),
    `${attacked.chat.lost.length} of ${attacked.chat.timesMs.length}`,
    String(Math.round(largest(alone.health.timesMs))),
    String(Math.round(largest(attacked.health.timesMs))),
    `${grownBytes < 0 ? "" : "+"}${Math.round(grownBytes / 1e6)} MB`,
    verdictOf(measured),
  ];
}

export function verdictOf(measured: Measured): string {
  const { stopped, missed } = judge(measured);
  return stopped.length > 0 ? "STOPPED" : missed.length > 0 ? "missed" : "met";
}

/** Lists the stops, the missed aims and the attack's findings. */
export function notesOf(measured: Measured): string[] {
  const { stopped, missed } = judge(measured);
  const { row, findings, ownDelayMs } = measured;
  return [
    ...stopped.map((sentence) => `  STOPPED  ${sentence}`),
    ...missed.filter((sentence) => !stopped.includes(sentence)).map((sentence) => `  missed   ${sentence}`),
    ...findings.filter(isNews).map(({ what, seen }) => `  seen     ${what}: ${seen}`),
    ...(row.granted ? [`  granted  ${Math.round(row.granted.bytes / 1e6)} MB for ${row.granted.what}`] : []),
    ...(ownDelayMs > 100 ? [`  note     the harness itself was up to ${Math.round(ownDelayMs)} ms late`] : []),
  ];
}

/** Missed bounds and aims are listed already. */
const isNews = (finding: Measured["findings"][number]): boolean => finding.kind === "figure" || finding.isKept;

const times = ({ timesMs }: Series): string =>
  [quantile(timesMs, 0.5), quantile(timesMs, 0.95), largest(timesMs)].map((ms) => Math.round(ms)).join("/");
