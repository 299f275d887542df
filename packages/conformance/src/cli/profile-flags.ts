import { existsSync } from "node:fs";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { capabilities, clauses, contractVersion, levels } from "../contract/contract.ts";
import type { Capability, Level } from "../contract/contract.ts";
import { faultOfKey, readBaseUrl } from "../preflight/base-url.ts";
import { PreflightError } from "../preflight/preflight-error.ts";
import { readSet, setNames } from "../contract/requirements.ts";
import { keyRoles } from "../profile.ts";
import { nearestOf, remedyFor } from "./nearest.ts";
import { readJsonFile } from "./read-json-file.ts";
import type { ConformanceProfile, KeyRole, RunProfile } from "../profile.ts";
import { profileNames, selectClauses, selectors } from "../contract/select-clauses.ts";

/** Flags that decide what is sent and how it is judged. */
export interface ProfileFlags {
  readonly baseUrl?: string;
  readonly apiKeyEnv: string;
  readonly model?: string;
  readonly level: readonly (Level | "keyless")[];
  readonly modelIs?: readonly Capability[];
  readonly profile?: string;
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  readonly contract?: string;
  readonly requirements?: string;
  readonly header: readonly string[];
  readonly probe?: boolean;
  readonly requireAll?: boolean;
  readonly exhaustive?: boolean;
  readonly seed: number;
}

/** The tiers that a user can choose. `keyless` is a part of the others, and is judged alone only if it is given alone. */
const tiers = [...levels, "keyless"] as const;

const listOf =
  <T extends string>(allowed: readonly T[]) =>
  (text: string, before: readonly T[] = []): readonly T[] => {
    const parts = text.split(",").map((part) => part.trim());
    const chosen = parts.includes("all") ? allowed : allowed.filter((one) => parts.includes(one));
    const odd = parts.find((part) => part !== "all" && part !== "any" && !allowed.some((one) => one === part));
    if (odd !== undefined)
      throw new InvalidArgumentError(`"${odd}" is none of ${allowed.join(", ")}; ${remedyFor(odd, allowed)}`);
    return [...new Set([...before, ...chosen])];
  };

function selectorsIn(text: string, before: readonly string[] = []): readonly string[] {
  const parts = text.split(",").map((part) => part.trim());
  const known = new Set(selectors.map((one) => one.toLowerCase()));
  const odd = parts.find((part) => !known.has(part.toLowerCase()));
  if (odd !== undefined)
    throw new InvalidArgumentError(`"${odd}" is not a clause, a chapter or a tag; ${remedyFor(odd, selectors)}`);
  return [...before, ...parts];
}

const versions = [...new Set(clauses.map(({ since }) => since))];

function readVersion(text: string): string {
  const found = versions.find((version) => version === text.replace(/^v/i, ""));
  if (found === undefined)
    throw new InvalidArgumentError(`The contract has no version ${text}; it has ${versions.join(", ")}.`);
  return found;
}

function readSetName(text: string): string {
  if (!setNames().includes(text))
    throw new InvalidArgumentError(`There is no set of requirements ${text}; ${remedyFor(text, setNames())}`);
  return text;
}

export const readWhole = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
};

export const addProfileFlags = (command: Command): Command =>
  command
    .option("--base-url <url>", "the service, with the path that the operations are under, such as https://host/v1")
    .option("--api-key-env <name>", "environment variable that holds the key", "API_KEY")
    .option("--model <id>", "the model to judge with (default: the first one of the listing that is ready)")
    .option(
      "--tier, --level <levels>",
      `claimed levels, separated by commas, or all: ${levels.join(", ")} (default: core,stream), or keyless, which needs no key`,
      listOf(tiers),
      [],
    )
    .option(
      "--model-is <capabilities>",
      `what the model behind the service can do: any, ${capabilities.join(", ")}`,
      listOf(capabilities),
    )
    .option(
      "--profile <name>",
      `the clauses to judge by: ${profileNames.join(", ")}, or the file of a conformance profile, as \`init\` writes it; flags override it`,
    )
    .option("--only <clauses>", "judge only these: ids, chapters such as STRM, or tags such as tools", selectorsIn)
    .option("--skip <clauses>", "leave these out", selectorsIn)
    .option(
      "--contract <version>",
      `judge by the clauses that this version had (default: ${contractVersion})`,
      readVersion,
    )
    .option(
      "--requirements <set>",
      `judge by a set of requirements that never changes: ${setNames().join(", ")} (default: those of this version)`,
      readSetName,
    )
    .option(
      "--header <header>",
      "`Name: value` for every request; may be repeated",
      (text: string, before: readonly string[]) => [...before, text],
      [],
    )
    .option("--probe", "probe each level that is not claimed with a request or two (default: unless --level is given)")
    .option("--require-all", "exit with 3 if a MUST could not be judged")
    .option("--exhaustive", "send every case of every clause, rather than one or a few of each")
    .option("--seed <n>", "chooses the cases of a run that is not exhaustive", readWhole, 0);

/** The run profile and the credentials, from flags, conformance profile and environment. */
export function readProfile(flags: ProfileFlags): {
  readonly profile: RunProfile;
  readonly secrets: ReadonlyMap<string, string>;
} {
  const declared = declarationsIn(flags.profile);
  const base = declared.extends ?? "parley";
  const asked = flags.level.filter((level) => level !== "keyless");
  const isKeyless = asked.length === 0 && flags.level.length > 0;
  const selected = selectClauses(base, [
    declared,
    { ...(flags.only && { only: flags.only }), ...(flags.skip && { skip: flags.skip }) },
    ...(flags.contract === undefined ? [] : [{ since: flags.contract }]),
    ...(flags.requirements === undefined ? [] : [{ frozen: readSet(flags.requirements).clauses }]),
    ...(isKeyless ? [{ only: ["keyless"] }] : []),
  ]);
  const url = readBaseUrl(flags.baseUrl ?? "http://127.0.0.1:8080/v1");
  const headers = flags.header.map((text, index) => readHeader(text, index));
  const { secrets, roles } = isKeyless
    ? { secrets: new Map<string, string>(), roles: [] }
    : readKeys(flags.apiKeyEnv, declared);
  for (const { placeholder, value } of headers) if (placeholder !== undefined) secrets.set(placeholder, value);
  const usual: readonly Level[] = base === "parley" ? ["core", "stream"] : levels;
  const claimed = isKeyless ? levels : asked.length > 0 ? asked : declared.levels;
  const profile: RunProfile = {
    ...declared,
    ...(flags.model !== undefined && { model: flags.model }),
    ...(isKeyless && { isKeyless, model: flags.model ?? "any" }),
    ...(flags.modelIs && { capabilities: flags.modelIs }),
    levels: claimed ?? usual,
    ...(base !== "parley" && !claimed && { presumed: usual }),
    base,
    ...(flags.requirements !== undefined && { requirements: flags.requirements }),
    ...(selected && { clauses: selected }),
    origin: url.origin,
    basePath: url.pathname.replace(/\/+$/, ""),
    keyRoles: roles,
    extraHeaders: headers.map(
      ({ name, placeholder, value }) => [name, placeholder === undefined ? value : `{${placeholder}}`] as const,
    ),
    isProbing: flags.probe ?? flags.level.length === 0,
    requiresAll: flags.requireAll === true,
    isExhaustive: flags.exhaustive === true,
    seed: flags.seed,
  };
  return { profile, secrets };
}

/** The declarations of a profile, which `--profile` gives by its name or by its file. */
function declarationsIn(profile: string | undefined): ConformanceProfile {
  if (profile === undefined) return {};
  const name = profileNames.find((one) => one === profile);
  return name === undefined ? readProfileFile(profile) : { extends: name };
}

/**
 * Reads the file of a conformance profile.
 * @throws Error with one sentence if it is not one
 */
export function readProfileFile(file: string): ConformanceProfile {
  const nearest = existsSync(file) ? undefined : nearestOf(file, profileNames);
  if (nearest !== undefined) throw new Error(`There is no profile and no file ${file}; did you mean "${nearest}"?`);
  return readJsonFile(file, "profile.schema.json") as ConformanceProfile; // the schema has been checked
}

/** A header value of at least this length may be a secret: it is handled by name, like a key. */
const leastSecretLength = 12;

function readHeader(
  text: string,
  index: number,
): { readonly name: string; readonly placeholder: string | undefined; readonly value: string } {
  const [, name, value] = /^([!#$%&'*+.^`|~\w-]+):\s*(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new Error(`--header "${text.slice(0, 20)}…" is not of the form "Name: value".`);
  return {
    name,
    placeholder: value.length < leastSecretLength ? undefined : `header_${String.fromCharCode(97 + index)}`,
    value,
  };
}

function readKeys(
  variable: string,
  declared: ConformanceProfile,
): { readonly secrets: Map<string, string>; readonly roles: KeyRole[] } {
  const key = process.env[variable];
  if (key === undefined || key === "")
    throw new Error(`The environment variable ${variable} holds no key; name another one with --api-key-env.`);
  const fault = faultOfKey(key, variable);
  if (fault !== undefined) throw new PreflightError(fault);
  const secrets = new Map([["key", key]]);
  const roles = keyRoles.filter((role) => {
    const value = process.env[declared.keys?.[role]?.env ?? ""];
    if (value !== undefined && value !== "") secrets.set(role, value);
    return secrets.has(role);
  });
  return { secrets, roles };
}
