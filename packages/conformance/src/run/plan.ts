import { book, checks, unchecked } from "../clauses/test-groups.ts";
import { probes } from "../requests/level-probes.ts";
import { clauseOf, clauses, levels } from "../contract/contract.ts";
import type { Ability, Clause } from "../contract/contract.ts";
import type { Check, Step } from "../judge/check.ts";
import type { Profile } from "../profile.ts";

/** Abilities that are taken for granted where nothing is said. */
const usualAbilities: readonly Ability[] = ["greedy", "guided"];

/** Whether a clause is judged at all, and if not, why. */
export function whyNot({ level, model }: Clause, profile: Profile): string | undefined {
  if (!profile.levels.includes(level)) return `the level ${level} is not claimed`;
  if (model === "any" || profile.abilities === undefined || profile.abilities.includes(model)) return undefined;
  return `it needs a ${model} model, which is not claimed`;
}

/** What keeps a clause from being judged although it is claimed. */
export function whatIsMissing({ model }: Clause, profile: Profile): string | undefined {
  const abilities = profile.abilities ?? usualAbilities;
  if (model === "any" || abilities.includes(model)) return undefined;
  return `it needs a ${model} engine behind the service: see \`script\` and the guide, and name it with --model-is`;
}

/** The checks of a profile. */
export function checksFor(profile: Profile): readonly Check[] {
  return checks.filter(({ clause }) => {
    const found = clauseOf.get(clause);
    return found !== undefined && whyNot(found, profile) === undefined && whatIsMissing(found, profile) === undefined;
  });
}

/** The steps that the checks use, in the order of the book, each behind those that it needs. */
export function stepsFor(wanted: readonly Check[], profile: Profile): readonly Step[] {
  const chosen = new Set<Step>();
  const add = (name: string): void => {
    const step = book.get(name);
    if (!step) throw new Error(`the request book has no step "${name}"`);
    if (chosen.has(step)) return;
    for (const need of step.needs ?? []) add(need);
    chosen.add(step);
  };
  add("models");
  add("plain");
  if (profile.abilities === undefined && wanted.some(({ clause }) => clauseOf.get(clause)?.model === "greedy"))
    add("plain again");
  const asked = profile.isProbing ? levels.filter((level) => !profile.levels.includes(level)) : [];
  const used = new Set([...wanted.flatMap(({ uses }) => uses), ...asked.flatMap((level) => probes[level].uses)]);
  for (const name of book.keys()) if (used.has(name)) add(name);
  return [...chosen];
}

/** What is wrong with the suite itself: it would make every verdict worthless. */
export function faultsOfSuite(): string[] {
  const judged = new Set([...checks, ...unchecked].map(({ clause }) => clause));
  return [
    ...clauses.filter(({ id }) => !judged.has(id)).map(({ id }) => `no check and no reason for ${id}`),
    ...[...judged].filter((id) => !clauseOf.has(id)).map((id) => `a check of ${id}, which is no clause`),
    ...checks.flatMap(({ clause, uses }) =>
      uses.filter((name) => !book.has(name)).map((name) => `${clause} uses "${name}", which is not in the book`),
    ),
    ...[...book.values()].flatMap(({ name, needs = [] }) =>
      needs.filter((need) => !book.has(need)).map((need) => `"${name}" needs "${need}", which is not in the book`),
    ),
  ];
}
