import { requestCatalogue, checks, unchecked } from "../clauses/test-groups.ts";
import { gatesOf, probes } from "../requests/level-probes.ts";
import { clauseOf, clauses, levels } from "../contract/contract.ts";
import type { Capability, Clause } from "../contract/contract.ts";
import type { Check, Step } from "../judge/check.ts";
import type { RunProfile } from "../profile.ts";

/** Capabilities that are assumed if the profile names none. */
const usualCapabilities: readonly Capability[] = ["greedy", "guided"];

/** Returns the reason why a clause is not judged, or undefined if it is. */
export function whyNot({ level, model }: Clause, profile: RunProfile): string | undefined {
  if (!profile.levels.includes(level)) return `the level ${level} is not claimed`;
  if (model === "any" || profile.capabilities === undefined || profile.capabilities.includes(model)) return undefined;
  return `it needs a ${model} model, which is not claimed`;
}

/** Returns whether only the part of a clause counts that every OpenAI-compatible server owes. */
export const isCommonOnly = ({ openai }: Clause, { base = "parley" }: RunProfile): boolean =>
  openai !== undefined && base !== "parley";

/** The clauses that the run judges. */
export const clausesOf = ({ clauses: chosen }: RunProfile): readonly Clause[] =>
  chosen === undefined ? clauses : clauses.filter(({ id }) => chosen.includes(id));

/** Stands for the requirements of this version of the suite: it is later than the name of every frozen set. */
const newestSet = "newest";

/** The checks of a clause in a set of requirements, without those that judge only what this contract adds, if that does not count. */
export function checksOf(clause: Clause, isCommon: boolean, set = newestSet): readonly Check[] {
  const own = checks.filter(
    ({ clause: id, since = "", until = newestSet }) =>
      id === clause.id && since <= set && (set < until || until === newestSet),
  );
  const common = own.filter((check) => check.common !== undefined);
  return isCommon && common.length > 0 ? common : own;
}

/** Returns the prerequisite that is missing to judge a claimed clause, if any. */
export function whatIsMissing({ model }: Clause, profile: RunProfile): string | undefined {
  const capabilities = profile.capabilities ?? usualCapabilities;
  if (model === "any" || capabilities.includes(model)) return undefined;
  return `it needs a ${model} engine behind the service: see \`script\` and the guide, and name it with --model-is`;
}

/** The checks of a profile. */
export function checksFor(profile: RunProfile): readonly Check[] {
  return clausesOf(profile)
    .filter((clause) => whyNot(clause, profile) === undefined && whatIsMissing(clause, profile) === undefined)
    .flatMap((clause) => checksOf(clause, isCommonOnly(clause, profile), profile.requirements));
}

/** The steps that the checks use, in the order of the catalogue, each after those that it needs. */
export function stepsFor(wanted: readonly Check[], profile: RunProfile): readonly Step[] {
  const chosen = new Set<Step>();
  const add = (name: string): void => {
    const step = requestCatalogue.get(name);
    if (!step) throw new Error(`the request catalogue has no step "${name}"`);
    if (chosen.has(step)) return;
    for (const need of step.needs ?? []) add(need);
    chosen.add(step);
  };
  if (profile.isKeyless !== true) {
    add("models");
    add("plain");
  }
  if (profile.capabilities === undefined && wanted.some(({ clause }) => clauseOf.get(clause)?.model === "greedy"))
    add("plain again");
  const asked = profile.isProbing ? levels.filter((level) => !profile.levels.includes(level)) : [];
  const used = new Set([
    ...wanted.flatMap(({ uses }) => uses),
    ...asked.flatMap((level) => probes[level].uses),
    ...gatesOf(profile.presumed),
  ]);
  for (const name of requestCatalogue.keys()) if (used.has(name)) add(name);
  return [...chosen];
}

/** Mistakes in the suite itself, which would make every verdict worthless. */
export function faultsOfSuite(): string[] {
  const judged = new Set([...checks, ...unchecked].map(({ clause }) => clause));
  return [
    ...clauses.filter(({ id }) => !judged.has(id)).map(({ id }) => `no check and no reason for ${id}`),
    ...[...judged].filter((id) => !clauseOf.has(id)).map((id) => `a check of ${id}, which is not a clause`),
    ...checks.flatMap(({ clause, uses }) =>
      uses
        .filter((name) => !requestCatalogue.has(name))
        .map((name) => `${clause} uses "${name}", which is not in the request catalogue`),
    ),
    ...[...requestCatalogue.values()].flatMap(({ name, needs = [] }) =>
      needs
        .filter((need) => !requestCatalogue.has(need))
        .map((need) => `"${name}" needs "${need}", which is not in the request catalogue`),
    ),
  ];
}
