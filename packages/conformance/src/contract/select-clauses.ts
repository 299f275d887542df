import { capabilities, clauses, levels } from "./contract.ts";
import type { Clause } from "./contract.ts";
import type { FrozenClause } from "./requirements.ts";

/** Profiles that the suite knows by name. */
export const profileNames = ["parley", "openai", "openrouter-provider"] as const;
export type ProfileName = (typeof profileNames)[number];

/** The clauses by which an implementation is judged. A selector is the id of a clause, a chapter such as STRM, or a tag. */
export interface Selection {
  /** The profile to start from. Default: `parley`, every clause. */
  readonly extends?: ProfileName;
  /** Selectors of clauses that are added to those of the profile. */
  readonly include?: readonly string[];
  /** Selectors; every other clause is left out. */
  readonly only?: readonly string[];
  /** Selectors of clauses that are left out. */
  readonly skip?: readonly string[];
  /** A version of the contract, such as 1.0: clauses that came later are left out. */
  readonly since?: string;
  /** The clauses of a frozen set of requirements; every other one is left out. */
  readonly frozen?: readonly FrozenClause[];
}

/** The listing and the behaviour under load that OpenRouter demands of a provider besides what SDKs need. */
const openrouterProvider =
  "MODL-02 MODL-03 MODL-05 MODL-06 MODL-08 MODL-18 MODL-23 STRM-29 STRM-32 LIM-10 LIM-14 OPS-04";

const clausesOfProfile: Readonly<Record<ProfileName, (clause: Clause) => boolean>> = {
  parley: () => true,
  openai: ({ openai }) => openai !== undefined,
  "openrouter-provider": ({ id, openai }) => openai !== undefined || openrouterProvider.split(" ").includes(id),
};

/** Clauses that answers to requests without a key show. */
const keyless =
  "HTTP-22 HTTP-24 HTTP-27 HTTP-29 HTTP-33 AUTH-01 AUTH-02 AUTH-08 AUTH-09 AUTH-11 AUTH-12 ERR-01 ERR-02 ERR-03 ERR-04 ERR-05 ERR-06 ERR-08 ERR-11 LIM-03".split(
    " ",
  );

const chapterOf = (id: string): string => id.replace(/-.*/, "");
const tagsOf = ({ id, level, keyword, model, openai }: Clause): readonly string[] => [
  level,
  keyword.toLowerCase(),
  ...(model === "any" ? [] : [model]),
  ...(openai === undefined ? [] : ["openai"]),
  ...(keyless.includes(id) ? ["keyless"] : []),
];

/** Every selector: ids, chapters and tags. */
export const selectors: readonly string[] = [
  ...new Set([
    ...clauses.map(({ id }) => id),
    ...clauses.map(({ id }) => chapterOf(id)),
    ...levels,
    "must",
    "should",
    ...capabilities,
    "openai",
    "keyless",
  ]),
];

const selects = (given: readonly string[], clause: Clause): boolean => {
  const own = new Set([clause.id, chapterOf(clause.id), ...tagsOf(clause)].map((one) => one.toLowerCase()));
  return given.some((selector) => own.has(selector.toLowerCase()));
};

/** Compares versions such as 1.0 and 1.10. */
const isLater = (one: string, other: string): boolean => one.localeCompare(other, "en", { numeric: true }) > 0;

/** The clause with the mark that it had in a frozen set. */
function asFrozen(clause: Clause, selections: readonly Selection[]): Clause {
  const frozen = selections.flatMap((one) => one.frozen ?? []).find(({ id }) => id === clause.id);
  if (!frozen || frozen.openai === (clause.openai !== undefined)) return clause;
  const { openai: _mark, ...plain } = clause;
  return frozen.openai ? { ...plain, openai: "in this set" } : plain;
}

/** The ids of the clauses that every selection leaves in. Undefined: all of the contract. */
export function selectClauses(name: ProfileName, selections: readonly Selection[]): readonly string[] | undefined {
  const included = selections.flatMap(({ include = [] }) => include);
  const chosen = clauses
    .filter((clause) => clausesOfProfile[name](asFrozen(clause, selections)) || selects(included, clause))
    .filter((clause) => selections.every(({ only }) => only === undefined || selects(only, clause)))
    .filter((clause) => selections.every(({ skip = [] }) => !selects(skip, clause)))
    .filter(({ id }) => selections.every(({ frozen }) => frozen?.some((one) => one.id === id) ?? true))
    .filter((clause) => selections.every(({ since }) => since === undefined || !isLater(clause.since, since)));
  return chosen.length === clauses.length ? undefined : chosen.map(({ id }) => id);
}
