import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Tool } from "./tool.ts";

/** The columns of the matrix. */
export const stages = ["generate", "compile", "answer", "error", "stream", "growth"] as const;
export type Stage = (typeof stages)[number];
export type Cell = "passed" | "failed" | "not run";

/** A row of the matrix. */
export type Row = Readonly<Record<Stage, Cell>>;

export const emptyRow: Row = {
  generate: "not run",
  compile: "not run",
  answer: "not run",
  error: "not run",
  stream: "not run",
  growth: "not run",
};

/** The result of a tool's last run. It is stored next to the tool's program. */
export type Result = Row & {
  readonly version: string;
  /** The day of the run, such as `2026-11-23`. */
  readonly date: string;
};

export const programsFolder = fileURLToPath(new URL("../programs/", import.meta.url));
const fileOf = ({ name }: Tool): string => join(programsFolder, name, "result.json");

/** @returns undefined for a tool that was never run */
export function readResult(tool: Tool): Result | undefined {
  const file = fileOf(tool);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Result) : undefined; // our own
}

export function writeResult(tool: Tool, row: Row): void {
  const result: Result = { version: tool.version, date: new Date().toISOString().slice(0, 10), ...row };
  writeFileSync(fileOf(tool), `${JSON.stringify(result, null, 2)}\n`);
}
