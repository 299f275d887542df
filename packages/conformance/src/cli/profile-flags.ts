import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { abilities, levels } from "../contract/contract.ts";
import type { Ability, Level } from "../contract/contract.ts";
import { keyRoles } from "../profile.ts";
import type { Claims, KeyRole, Profile } from "../profile.ts";

/** Flags that decide what is sent and how it is judged. */
export interface ProfileFlags {
  readonly baseUrl?: string;
  readonly apiKeyEnv: string;
  readonly model?: string;
  readonly level: readonly Level[];
  readonly modelIs?: readonly Ability[];
  readonly claims?: string;
  readonly header: readonly string[];
  readonly probe?: boolean;
  readonly thorough?: boolean;
  readonly seed: number;
}

const listOf =
  <T extends string>(allowed: readonly T[]) =>
  (text: string, before: readonly T[] = []): readonly T[] => {
    const parts = text.split(",").map((part) => part.trim());
    const chosen = parts.includes("all") ? allowed : allowed.filter((one) => parts.includes(one));
    const odd = parts.find((part) => part !== "all" && part !== "any" && !allowed.some((one) => one === part));
    if (odd !== undefined) throw new InvalidArgumentError(`"${odd}" is none of ${allowed.join(", ")}.`);
    return [...new Set([...before, ...chosen])];
  };

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
      "--level <levels>",
      `claimed levels, separated by commas, or all: ${levels.join(", ")} (default: core,stream)`,
      listOf(levels),
      [],
    )
    .option("--model-is <abilities>", `what stands behind the service: any, ${abilities.join(", ")}`, listOf(abilities))
    .option("--claims <file>", "claims file, as `init` writes it; flags win over it")
    .option(
      "--header <header>",
      "`Name: value` for every request; may be repeated",
      (text: string, before: readonly string[]) => [...before, text],
      [],
    )
    .option("--probe", "send a request or two about each level that is not claimed (default: unless --level is given)")
    .option("--thorough", "every case of every clause, rather than one or two of each")
    .option("--seed <n>", "which case of a clause is sent where it is one", readWhole, 0);

/** The profile and the credentials that flags, claims file and environment make. */
export function readProfile(flags: ProfileFlags): {
  readonly profile: Profile;
  readonly secrets: ReadonlyMap<string, string>;
} {
  const claims: Claims = flags.claims === undefined ? {} : (JSON.parse(readFileSync(flags.claims, "utf8")) as Claims); // what `init` wrote
  const url = new URL(flags.baseUrl ?? "http://127.0.0.1:8080/v1");
  const headers = flags.header.map((text, index) => readHeader(text, index));
  const { secrets, roles } = readKeys(flags.apiKeyEnv, claims);
  for (const { placeholder, value } of headers) if (placeholder !== undefined) secrets.set(placeholder, value);
  const chosen = flags.level.length > 0 ? flags.level : (claims.levels ?? (["core", "stream"] as const));
  const profile: Profile = {
    ...claims,
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.modelIs && { abilities: flags.modelIs }),
    levels: chosen,
    origin: url.origin,
    basePath: url.pathname.replace(/\/+$/, ""),
    keyRoles: roles,
    extraHeaders: headers.map(
      ({ name, placeholder, value }) => [name, placeholder === undefined ? value : `{${placeholder}}`] as const,
    ),
    isProbing: flags.probe ?? flags.level.length === 0,
    isThorough: flags.thorough === true,
    seed: flags.seed,
  };
  return { profile, secrets };
}

/** So long a value may be a secret: it travels by name, like a key. */
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
  claims: Claims,
): { readonly secrets: Map<string, string>; readonly roles: KeyRole[] } {
  const key = process.env[variable];
  if (key === undefined || key === "")
    throw new Error(`The environment variable ${variable} holds no key; name another one with --api-key-env.`);
  const secrets = new Map([["key", key]]);
  const roles = keyRoles.filter((role) => {
    const value = process.env[claims.keys?.[role]?.env ?? ""];
    if (value !== undefined && value !== "") secrets.set(role, value);
    return secrets.has(role);
  });
  return { secrets, roles };
}
