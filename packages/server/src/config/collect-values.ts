import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isRecord } from "@parley/common/is-record";
import { parse } from "yaml";
import { secretNames } from "./config-schema.ts";
import { explainWrapping, isServiceLink } from "./explain-environment.ts";
import { defaultNames, modelShortcuts } from "./default-models.ts";
import { fromText } from "./setting.ts";
import type { Setting } from "./setting.ts";
import { settingNames, settings } from "./settings.ts";

/** The sources of settings. */
export interface ConfigSources {
  /** Values by flag: `{"--port": "9000"}`. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the settings file; undefined: `parley.yaml` in the working folder, if it exists. */
  readonly file?: string | undefined;
}

export type Origin = "flag" | "environment" | "parley.yaml" | "default";

/** A mapping of the file. */
export type Document = Record<string, unknown>;

/** The values of all sources together. */
export interface Given {
  /** The values in the form of `parley.yaml`. A secret has the name of its variable. */
  readonly document: Document;
  /** Names for messages, by path in the file. `--port` or `PORT` if the value does not come from the file. */
  readonly labels: ReadonlyMap<string, string>;
  /** The origin of each setting, by environment variable. */
  readonly origins: ReadonlyMap<string, Origin>;
}

/**
 * Collects the values of all sources. Flags override the environment, and both override the file.
 * @param faults receives a sentence for each fault
 */
export function collectValues(sources: ConfigSources, faults: string[]): Given {
  const document = readFile(sources.file, faults);
  const labels = new Map<string, string>();
  const origins = new Map<string, Origin>();
  for (const row of [...settingNames.map((name) => settings[name]), ...modelShortcuts]) {
    const path = row.path ?? [row.env];
    const outside = findOutside(row, sources);
    const inFile = findInFile(row, sources, faults);
    if (outside && inFile) faults.push(`${outside.label} and ${inFile.label} are both given: leave one of them out`);
    const given = outside ?? inFile;
    origins.set(row.env, given?.origin ?? (isGivenAt(document, path) ? "parley.yaml" : "default"));
    if (!given) continue;
    const wrapping = explainWrapping(given.text);
    if (wrapping !== undefined) {
      faults.push(`${given.label} ${wrapping}`);
      continue;
    }
    if (put(document, path, fromText(row, given.text))) labels.set(path.join("."), given.label);
    else faults.push(`${given.label} is about ${path.slice(0, 2).join(".")}, which parley.yaml does not list`);
  }
  return { document, labels, origins };
}

function findOutside(
  { flag, env }: Setting,
  sources: ConfigSources,
): { readonly text: string; readonly label: string; readonly origin: Origin } | undefined {
  const flagText = flag === undefined ? undefined : sources.flags[flag];
  if (flag !== undefined && flagText !== undefined) return { text: flagText, label: flag, origin: "flag" };
  const text = sources.env[env];
  // Many tools set an empty variable to say "not set".
  return text === undefined || text === "" || isServiceLink(env, text)
    ? undefined
    : { text, label: env, origin: "environment" };
}

/** Reads a secret from a separate file: `PARLEY_API_KEY_FILE` names the file of `PARLEY_API_KEY`. */
function findInFile({ env, path }: Setting, sources: ConfigSources, faults: string[]): ReturnType<typeof findOutside> {
  const label = `${env}_FILE`;
  const file = path === undefined ? sources.env[label] : undefined;
  if (file === undefined || file === "") return undefined;
  try {
    const text = readFileSync(file, "utf8").trim();
    if (text !== "") return { text, label, origin: "environment" };
    faults.push(`${label}: the file ${file} is empty`);
  } catch (error) {
    faults.push(
      `${label}: the file ${file} cannot be read (${error instanceof Error ? error.message : String(error)})`,
    );
  }
  return undefined;
}

/** Sets a value in the document. @returns false if the file lists models without the one that the value is for */
function put(document: Document, path: readonly string[], value: unknown): boolean {
  const [key = "", ...rest] = path;
  if (rest.length === 0) document[key] = value;
  else {
    document[key] ??= key === "models" ? Object.fromEntries(defaultNames.map((name) => [name, {}])) : {};
    const inner = document[key];
    if (!isRecord(inner)) return true; // the fault of the file is reported elsewhere
    if (key === "models" && !(String(rest[0]) in inner)) return false;
    return put(inner, rest, value);
  }
  return true;
}

const isGivenAt = (document: unknown, [key, ...rest]: readonly string[]): boolean =>
  key === undefined ? document !== undefined : isRecord(document) && isGivenAt(document[key], rest);

function readFile(path: string | undefined, faults: string[]): Document {
  const file = resolve(path ?? "parley.yaml");
  if (path === undefined && !existsSync(file)) return {};
  try {
    const document: unknown = parse(readFileSync(file, "utf8")) ?? {};
    if (isRecord(document)) return withoutSecrets(document, faults);
    faults.push(`${file} must be a YAML mapping of settings`);
  } catch (error) {
    faults.push(`${file} cannot be read: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
  }
  return {};
}

/** Removes secrets, which are faults in the file, and keys without a value. */
function withoutSecrets(document: Document, faults: string[]): Document {
  const isSecret = (key: string): boolean =>
    secretNames.has(key.toUpperCase()) || secretNames.has(`PARLEY_${key.toUpperCase()}`);
  for (const key of Object.keys(document).filter(isSecret))
    faults.push(`parley.yaml: ${key} is a secret, and read from the environment only`);
  return Object.fromEntries(Object.entries(document).filter(([key, value]) => value !== null && !isSecret(key)));
}
