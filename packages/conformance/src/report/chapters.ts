import type { State } from "../run/verdict.ts";
import type { ClauseReport, Report } from "./report.ts";

/** The chapters of the contract, by the prefix of their clauses. */
const chapterTitles: Readonly<Record<string, string>> = {
  MODL: "models",
  RESP: "answers",
  AUTH: "keys",
  HTTP: "HTTP",
  REQ: "requests",
  MSG: "messages",
  STRM: "streams",
  ERR: "errors",
  TOOL: "tools",
  FMT: "formats",
  LOGP: "log-probabilities",
  SAMP: "sampling",
  LIM: "limits",
  OPS: "operations",
  ACCT: "accounts",
  IDEM: "repeated calls",
};

export const chapterOf = (id: string): string => id.replace(/-.*$/, "");

export interface Chapter {
  readonly prefix: string;
  readonly title: string;
  readonly kept: number;
  readonly broken: number;
  readonly open: number;
  /** Clauses that were not judged because nothing claims them. */
  readonly notClaimed: number;
}

const brokenStates: ReadonlySet<State> = new Set(["FAIL", "WARN", "XPASS", "XFAIL"]);
const openStates: ReadonlySet<State> = new Set(["UNTESTABLE", "ERROR"]);
export const isBroken = ({ state }: ClauseReport): boolean => brokenStates.has(state);
export const isOpen = ({ state }: ClauseReport): boolean => openStates.has(state);

/** The verdicts by chapter, in the order of the report. */
export function chaptersOf({ clauses }: Report): readonly Chapter[] {
  const groups = new Map<string, ClauseReport[]>();
  for (const clause of clauses) groups.set(chapterOf(clause.id), [...(groups.get(chapterOf(clause.id)) ?? []), clause]);
  return [...groups].map(([prefix, own]) => ({
    prefix,
    title: chapterTitles[prefix] ?? prefix,
    kept: own.filter(({ state }) => state === "PASS").length,
    broken: own.filter(isBroken).length,
    open: own.filter(isOpen).length,
    notClaimed: own.filter(({ state }) => state === "NOT_APPLICABLE").length,
  }));
}

export interface Failure {
  readonly clause: ClauseReport;
  readonly cause: string;
  /** Other clauses that fail for the same reason. */
  readonly also: readonly string[];
}

/** Every failure once: clauses that hurt SDKs first, then those that must be kept, then those with most others. */
export function failuresOf({ causes, clauses }: Report): readonly Failure[] {
  const folded = new Set<string>();
  const found = causes.flatMap(({ clause: id, cause, also }) => {
    // A failure that the baseline allows heads no others. One that has two causes is shown with the first of them.
    const [clause, ...others] = [id, ...also]
      .flatMap((one) => clauses.find((clause) => clause.id === one) ?? [])
      .filter(({ state, id: own }) => state !== "XFAIL" && !folded.has(own));
    for (const one of [clause, ...others]) if (one) folded.add(one.id);
    return clause ? [{ clause, cause, also: others.map((one) => one.id) }] : [];
  });
  const others = clauses.filter((one) => isBroken(one) && one.state !== "XFAIL" && !folded.has(one.id));
  const weightOf = ({ clause, also }: Failure): number =>
    (clause.interop === "FAIL" ? 1000 : 0) + (clause.state === "WARN" ? 0 : 500) + also.length;
  const all = [...found, ...others.map((clause) => ({ clause, cause: clause.note, also: [] }))];
  return all.toSorted((one, other) => weightOf(other) - weightOf(one));
}

/** The reasons why clauses are open, with their number, the most frequent first. */
export function openReasonsOf({ clauses }: Report): readonly (readonly [reason: string, ids: readonly string[]])[] {
  const groups = new Map<string, string[]>();
  for (const { id, note } of clauses.filter(isOpen)) groups.set(note, [...(groups.get(note) ?? []), id]);
  return [...groups].toSorted(([, one], [, other]) => other.length - one.length);
}
