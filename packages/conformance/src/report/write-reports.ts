import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Evidence } from "../run/perform-steps.ts";
import type { RunProfile } from "../profile.ts";
import type { Secrets } from "../wire/http-request.ts";
import { toBadge } from "./badge.ts";
import { toHtml } from "./html.ts";
import { toJunit } from "./junit.ts";
import { toMarkdown } from "./markdown.ts";
import type { Report } from "./report.ts";

/** The data that `replay` needs to judge a run again. */
export interface Recording {
  readonly profile: RunProfile;
  readonly durationMs: number;
  readonly evidence: Evidence;
}

/** Writes every kind of report into a folder, none with a credential in it. */
export async function writeReports(
  folder: string,
  report: Report,
  recording: Recording,
  secrets: Secrets,
): Promise<void> {
  const files = {
    "report.json": toJson(report),
    "report.md": toMarkdown(report),
    "report.html": toHtml(report, recording.evidence),
    "junit.xml": toJunit(report),
    "badge.svg": toBadge(report),
    "recording.json": `${JSON.stringify(recording)}\n`,
  };
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), withoutSecrets(text, secrets));
}

/** Writes one member of the report in each line, and one clause, so that two reports can be compared line by line. */
function toJson(report: Report): string {
  const perLine = (items: readonly unknown[]): string =>
    `[\n${items.map((item) => `  ${JSON.stringify(item)}`).join(",\n")}\n ]`;
  const members = Object.entries(report).map(
    ([name, value]) => ` ${JSON.stringify(name)}: ${Array.isArray(value) ? perLine(value) : JSON.stringify(value)}`,
  );
  return `{\n${members.join(",\n")}\n}\n`;
}

/** Masks credentials once more before anything is written. They were masked on arrival, so none should be left. */
export function withoutSecrets(text: string, secrets: Secrets): string {
  return [...secrets.values()]
    .filter((value) => value.length >= 6)
    .reduce((clean, value) => clean.replaceAll(value, "*".repeat(8)), text);
}
