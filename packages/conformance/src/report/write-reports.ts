import { existsSync } from "node:fs";
import { access, constants, mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Evidence } from "../run/perform-steps.ts";
import type { RunProfile } from "../profile.ts";
import type { Secrets } from "../wire/http-request.ts";
import { toHtml } from "./html.ts";
import { toBadge, toEndpoint } from "./badge.ts";
import { toJunit } from "./junit.ts";
import { toSarif } from "./sarif.ts";
import { toMarkdown } from "./markdown.ts";
import type { Report } from "./report.ts";
import { bodyFile, bodyOf } from "./to-curl.ts";

/** The data that `replay` needs to judge a run again. */
export interface Recording {
  readonly profile: RunProfile;
  readonly durationMs: number;
  readonly evidence: Evidence;
}

/** Creates the folder of the reports before a run. @throws if nothing can be written there */
export async function prepareFolder(folder: string): Promise<void> {
  try {
    await makeFolder(resolve(folder));
    await access(folder, constants.W_OK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const why = code === "EEXIST" || code === "ENOTDIR" ? "a file has that name" : `it cannot be written (${code})`;
    throw new Error(`--report ${folder} cannot be the folder of the reports: ${why}. Name another folder.`, {
      cause: error,
    });
  }
}

/**
 * Makes a folder and its parents. Node's own recursive mode never ends where the system refuses a folder as if its parent were
 * missing, as below `/proc`.
 */
async function makeFolder(path: string): Promise<void> {
  const isThere = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isThere) return;
  if (!existsSync(dirname(path))) await makeFolder(dirname(path));
  await mkdir(path);
}

/** Writes every kind of report into a folder, none with a credential in it. */
export async function writeReports(
  folder: string,
  report: Report,
  recording: Recording,
  secrets: Secrets,
): Promise<void> {
  const json = withoutSecrets(toJson(report), secrets);
  const files = {
    "report.json": json,
    "report.md": toMarkdown(report),
    "report.html": toHtml(report, recording.evidence),
    "junit.xml": toJunit(report),
    "report.sarif": toSarif(report),
    "badge.svg": toBadge(report),
    "badge.json": toEndpoint(report, json),
    "recording.json": `${JSON.stringify(recording)}\n`,
  };
  await prepareFolder(folder);
  await writeBodies(folder, report, recording.evidence);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), withoutSecrets(text, secrets));
}

/** Writes the long bodies that the commands of the report send. */
async function writeBodies(folder: string, { clauses }: Report, { exchanges }: Evidence): Promise<void> {
  const shown = new Set(clauses.map(({ exchange }) => exchange));
  for (const { name, request } of exchanges.filter((one) => shown.has(one.name))) {
    const bytes = bodyOf(request);
    if (bytes === undefined) continue;
    await mkdir(join(folder, dirname(bodyFile(name))), { recursive: true });
    await writeFile(join(folder, bodyFile(name)), bytes);
  }
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
