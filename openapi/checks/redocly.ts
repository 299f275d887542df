import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { operationsOf } from "@parley/contract/document";
import type { Document } from "@parley/contract/document";

/** The folder of the contract. */
export const contractFolder = fileURLToPath(new URL("..", import.meta.url));

/** Reads a file of the contract. */
export function readText(file: string): Promise<string> {
  return readFile(join(contractFolder, file), "utf8");
}

const cli = fileURLToPath(new URL("../../node_modules/@redocly/cli/bin/cli.js", import.meta.url));

/** Runs Redocly in a folder. Returns its output, and whether it succeeded. */
function redocly(folder: string, args: readonly string[]): Promise<{ isContent: boolean; output: string }> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  return new Promise((resolve) => {
    execFile(process.execPath, [cli, ...args], { cwd: folder, env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ isContent: error === null, output: stdout || stderr }),
    );
  });
}

/** Bundles the contract into one document with examples and transcripts. If an overlay is named, it is applied. */
export async function bundle(overlay?: string): Promise<Document> {
  return inScratch(async (folder) => {
    const target = join(folder, "contract.json");
    const overlays = overlay ? ["--overlay", overlay] : [];
    const { isContent, output } = await redocly(contractFolder, ["bundle", "openapi.yaml", "-o", target, ...overlays]);
    if (!isContent) throw new Error(`The contract cannot be bundled: ${output}`);
    return inlineTranscripts(JSON.parse(await readFile(target, "utf8")));
  });
}

/** Bundles the contract of the admin API into one document. */
export async function bundleAdmin(): Promise<object> {
  return inScratch(async (folder) => {
    const target = join(folder, "admin.json");
    const { isContent, output } = await redocly(contractFolder, ["bundle", "admin/openapi.yaml", "-o", target]);
    if (!isContent) throw new Error(`The contract of the admin API cannot be bundled: ${output}`);
    return JSON.parse(await readFile(target, "utf8")) as object; // a document of OpenAPI 3.1, which lint has checked
  });
}

/**
 * Redocly puts examples into the bundle, but not our transcripts. This function replaces the name of each transcript's file by
 * its text.
 */
async function inlineTranscripts(document: Document): Promise<Document> {
  for (const { responses } of operationsOf(document))
    for (const { content = {} } of Object.values(responses))
      for (const { "x-transcripts": transcripts = {} } of Object.values(content))
        for (const transcript of Object.values(transcripts)) {
          transcript.value = await readText(String(transcript.file));
          delete transcript.file;
        }
  return document;
}

/** Returns the rules of our configuration that a document breaks, one entry per violation. */
export async function lint(folder: string, entry = "openapi.yaml", rules = "redocly.yaml"): Promise<string[]> {
  const config = join(contractFolder, rules);
  const { output } = await redocly(folder, ["lint", entry, "--config", config, "--format", "json"]);
  const { problems }: { problems: { ruleId: string }[] } = JSON.parse(output);
  return problems.map(({ ruleId }) => ruleId);
}

/** Returns the rules that the contract would break with a text of one file replaced by another. The files stay as they are. */
export async function lintBroken(
  file: string,
  text: string,
  replacement: string,
  documents: { readonly entry?: string; readonly rules?: string } = {},
): Promise<string[]> {
  return inScratch(async (folder) => {
    await cp(contractFolder, folder, { recursive: true });
    const whole = await readFile(join(folder, file), "utf8");
    if (!whole.includes(text)) throw new Error(`${file} does not hold: ${text}`);
    const changed = whole.replace(text, () => replacement);
    await writeFile(join(folder, file), changed);
    return lint(folder, documents.entry, documents.rules);
  });
}

/** Returns the violations of Redocly's recommended rules in a document, without our own rules. */
export async function lintRecommended(document: object): Promise<string[]> {
  return inScratch(async (folder) => {
    await writeFile(join(folder, "contract.json"), JSON.stringify(document));
    const config =
      "extends: [recommended]\nrules: { no-invalid-media-type-examples: { allowAdditionalProperties: true } }\n";
    await writeFile(join(folder, "redocly.yaml"), config);
    const args = ["lint", "contract.json", "--config", "redocly.yaml", "--format", "json"];
    const { problems }: { problems: { ruleId: string }[] } = JSON.parse((await redocly(folder, args)).output);
    return problems.map(({ ruleId }) => ruleId);
  });
}

/** Returns the rules that a bundle breaks. */
export async function lintBundle(document: Document): Promise<string[]> {
  return inScratch(async (folder) => {
    await writeFile(join(folder, "contract.json"), JSON.stringify(document));
    return lint(folder, "contract.json");
  });
}

async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "contract-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
