import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Evidence } from "../run/collect.ts";
import type { Profile } from "../profile.ts";
import type { Secrets } from "../wire/ask.ts";
import { toBadge } from "./badge.ts";
import { toHtml } from "./html.ts";
import { toJunit } from "./junit.ts";
import { toMarkdown } from "./markdown.ts";
import type { Report } from "./report.ts";

/** What `replay` needs to judge a run again. */
export interface Recording {
  readonly profile: Profile;
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
    "report.json": `${JSON.stringify(report, undefined, 2)}\n`,
    "report.md": toMarkdown(report),
    "report.html": toHtml(report, recording.evidence),
    "junit.xml": toJunit(report),
    "badge.svg": toBadge(report),
    "recording.json": `${JSON.stringify(recording)}\n`,
  };
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), withoutSecrets(text, secrets));
}

/** The last look before anything leaves: the values were masked as they came in, so that nothing should be left. */
export function withoutSecrets(text: string, secrets: Secrets): string {
  return [...secrets.values()]
    .filter((value) => value.length >= 6)
    .reduce((clean, value) => clean.replaceAll(value, "*".repeat(8)), text);
}
