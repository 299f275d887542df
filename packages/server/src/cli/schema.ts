import { readFileSync } from "node:fs";
import { isRecord } from "@parley/common/is-record";
import { nearestForm } from "@parley/json-schema-grammar/nearest-form";
import { parseJson } from "@parley/json-schema-grammar/json";
import { explainSchema } from "@parley/json-schema-grammar";
import type { Schema, SchemaReport } from "@parley/json-schema-grammar";
import { Option } from "commander";
import type { Command } from "commander";
import { toTable } from "./table.ts";

interface CheckFlags {
  readonly as: "answer" | "parameters";
  readonly json?: boolean;
}

export function addSchemaCommand(program: Command): void {
  program
    .command("schema")
    .description("JSON Schemas for response_format and tools")
    .command("check")
    .description("report which keywords of a JSON Schema are enforced, and where the others are")
    .argument("<file>", "a file with the schema, or - for standard input")
    .addOption(new Option("--as <use>", "use of the schema").choices(["answer", "parameters"]).default("answer"))
    .option("--json", "print the report as JSON")
    .action((file: string, flags: CheckFlags) => {
      const report = explainSchema(readSchema(file), { isObject: flags.as === "parameters" });
      process.stdout.write(flags.json === true ? `${JSON.stringify(report, undefined, 2)}\n` : toText(report));
      if (report.fault ?? report.unenforced[0]) process.exitCode = 1;
    });
}

function readSchema(file: string): Schema {
  const value = parse(readText(file), file);
  if (typeof value === "boolean" || isRecord(value)) return value;
  throw new Error(`${file} is not a JSON Schema: it must be an object, true or false`);
}

function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function parse(text: string, file: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function toText({ enforced, unenforced, annotations, fault }: SchemaReport): string {
  if (fault) return `The schema cannot be used: ${fault.reason}${fault.path && ` (at ${fault.path})`}.\n`;
  const rows = unenforced.map(({ path, reason, keyword }) => [path, reason, nearestForm(keyword) ?? "-"]);
  return [
    enforced.length > 0 ? `Enforced: ${enforced.join(", ")}.\n` : "No keyword is enforced.\n",
    rows.length > 0 ? `\nNot enforced:\n${toTable(["where", "why", "instead"], rows)}` : "",
    annotations.length > 0
      ? `\nNo keyword of JSON Schema, so without effect: ${annotations.map(({ path }) => path).join(", ")}.\n`
      : "",
    rows.length > 0
      ? "\nAs the schema of an answer or of a strict function it is refused. For any other function these are left out.\n"
      : "\nIt can be used for an answer and for strict functions.\n",
  ].join("");
}
