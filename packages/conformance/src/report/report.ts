import { clauses, contractVersion, levels } from "../contract/contract.ts";
import type { Level } from "../contract/contract.ts";
import type { Cause } from "../judge/causes.ts";
import type { Cases } from "../judge/check.ts";
import { isProbe } from "../judge/context.ts";
import { numberAt, usageOf } from "../judge/read.ts";
import { exitCodeOf } from "../run/assess.ts";
import type { Assessment, State, Verdict } from "../run/verdict.ts";
import { interrupted } from "../run/perform-steps.ts";
import type { Evidence } from "../run/perform-steps.ts";
import type { RunProfile } from "../profile.ts";
import { Answer } from "../wire/answer.ts";
import { toCurl, variablesOf } from "./to-curl.ts";
import type { Shell } from "./to-curl.ts";

export const suiteVersion = "0.1.0";

/** The result of a run, for people and programs. `report.schema.json` describes it. */
export interface Report {
  readonly suite: { readonly name: string; readonly version: string };
  readonly contract: { readonly version: string; readonly clauses: number };
  readonly implementation: { readonly name: string; readonly version?: string };
  readonly run: RunFacts;
  readonly verdict: "conformant" | "not conformant" | "inconclusive";
  readonly exitCode: number;
  readonly interop: "usable" | "not usable" | "inconclusive";
  readonly counts: Readonly<Partial<Record<State, number>>>;
  readonly levels: Readonly<Record<Level, LevelSummary>>;
  readonly clauses: readonly ClauseReport[];
  /** The failures, each once: clauses that fail for one reason are one cause. */
  readonly causes: readonly Cause[];
  /** Clauses that nobody can judge from outside. */
  readonly unchecked: readonly { readonly clause: string; readonly reason: string }[];
  /** Mistakes in the suite's own requests. */
  readonly faults: readonly string[];
  /** The environment variables that the commands read, and the value that each has to hold. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface RunFacts {
  readonly startedAt: string;
  readonly durationMs: number;
  readonly baseUrl: string;
  readonly claimed: readonly Level[];
  /** The profile of clauses, such as `openai`. */
  readonly profile: string;
  /** The frozen set of requirements, if one was named. */
  readonly requirements?: string;
  readonly capabilities: readonly string[] | null;
  readonly isExhaustive: boolean;
  readonly seed: number;
  /** Present if the run was ended before everything was sent. */
  readonly isInterrupted?: true;
  /** Without probes. */
  readonly requests: number;
  readonly outputTokens: number;
  /** Requests that probed levels that are not claimed. */
  readonly probes: number;
  /** The clauses of which only some cases were tried: their number, the cases tried, and all of their cases. */
  readonly sampled: { readonly clauses: number; readonly tried: number; readonly of: number };
}

export interface LevelSummary {
  readonly isClaimed: boolean;
  /** For a level that is not claimed: whether the probe found it. Absent: it was not probed. */
  readonly isFound?: boolean;
  readonly note?: string;
  readonly passed: number;
  readonly failed: number;
  readonly open: number;
}

export interface ClauseReport {
  readonly id: string;
  readonly keyword: string;
  readonly level: Level;
  readonly sentence: string;
  readonly state: State;
  readonly interop?: string;
  readonly note: string;
  /** Present if only some cases were tried. */
  readonly cases?: Cases;
  readonly expected?: string;
  readonly actual?: string;
  readonly exchange?: string;
  readonly curl?: string;
}

export function buildReport(
  assessment: Assessment,
  evidence: Evidence,
  profile: RunProfile,
  durationMs: number,
  shell: Shell,
): Report {
  const { verdicts } = assessment;
  const exitCode = exitCodeOf(assessment, profile.requiresAll);
  const isInterrupted = Object.values(evidence.unsent).includes(interrupted);
  return {
    suite: { name: "@parley/conformance", version: suiteVersion },
    contract: { version: contractVersion, clauses: clauses.length },
    implementation: profile.implementation ?? { name: profile.origin },
    run: factsOf(assessment, evidence, profile, durationMs),
    verdict: exitCode === 1 ? "not conformant" : exitCode === 0 && !isInterrupted ? "conformant" : "inconclusive",
    exitCode,
    interop: interopOf(assessment, profile),
    counts: countStates(verdicts),
    levels: Object.fromEntries(levels.map((level) => [level, summarize(level, assessment, profile)])) as Record<
      Level,
      LevelSummary
    >, // one entry per level
    clauses: verdicts.map((verdict) => toClauseReport(verdict, evidence, profile, shell)),
    environment: Object.fromEntries(variablesOf(evidence.exchanges, profile, shell)),
    causes: assessment.causes,
    unchecked: assessment.unchecked,
    faults: assessment.faults,
  };
}

function factsOf({ verdicts }: Assessment, evidence: Evidence, profile: RunProfile, durationMs: number): RunFacts {
  const asked = evidence.exchanges.filter(({ name }) => !isProbe(name));
  const tokens = asked.map((exchange) => numberAt(usageOf(new Answer(exchange)), "/completion_tokens") || 0);
  return {
    startedAt: evidence.exchanges[0]?.startedAt ?? "",
    durationMs: Math.round(durationMs),
    baseUrl: profile.origin + profile.basePath,
    claimed: profile.levels,
    profile: profile.extends ?? "parley",
    ...(profile.requirements !== undefined && { requirements: profile.requirements }),
    capabilities: profile.capabilities ?? null,
    isExhaustive: profile.isExhaustive,
    seed: profile.seed,
    ...(Object.values(evidence.unsent).includes(interrupted) && { isInterrupted: true as const }),
    requests: asked.length,
    outputTokens: sumOf(tokens),
    probes: evidence.exchanges.length - asked.length,
    sampled: sampledOf(verdicts.flatMap(({ cases }) => cases ?? [])),
  };
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

const sampledOf = (cases: readonly Cases[]): RunFacts["sampled"] => ({
  clauses: cases.length,
  tried: sumOf(cases.map(({ tried }) => tried)),
  of: sumOf(cases.map((one) => one.of)),
});

/** "usable" is said only if every clause with the mark, at the claimed levels, was judged or belongs to a missing feature. */
const interopOf = ({ verdicts, stopped }: Assessment, profile: RunProfile): Report["interop"] => {
  const found = new Set(verdicts.flatMap(({ interop }) => interop ?? []));
  const judged = new Set(
    verdicts.flatMap(({ clause, interop, state }) => (interop || state === "NOT_APPLICABLE" ? [clause.id] : [])),
  );
  const isPartial = clauses.some(
    ({ id, level, openai }) => openai !== undefined && profile.levels.includes(level) && !judged.has(id),
  );
  if (found.has("FAIL")) return "not usable";
  return found.has("PASS") && !found.has("UNTESTABLE") && !isPartial && stopped === undefined
    ? "usable"
    : "inconclusive";
};

function countStates(verdicts: readonly Verdict[]): Report["counts"] {
  const counts: Partial<Record<State, number>> = {};
  for (const { state } of verdicts) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

function summarize(level: Level, { verdicts, probed }: Assessment, profile: RunProfile): LevelSummary {
  const found = probed.find((one) => one.level === level);
  const own = verdicts.filter(({ clause }) => clause.level === level);
  const count = (...states: readonly State[]): number => own.filter(({ state }) => states.includes(state)).length;
  return {
    isClaimed: profile.levels.includes(level),
    ...(found?.isFound !== undefined && { isFound: found.isFound }),
    ...(found && { note: found.note }),
    passed: count("PASS"),
    failed: count("FAIL", "XFAIL", "XPASS", "WARN"),
    open: count("UNTESTABLE", "ERROR"),
  };
}

function toClauseReport(
  { clause, state, interop, note, violation, cases }: Verdict,
  evidence: Evidence,
  profile: RunProfile,
  shell: Shell,
): ClauseReport {
  const { id, keyword, level, sentence } = clause;
  const exchange = evidence.exchanges.find(({ name }) => name === violation?.exchange);
  return {
    id,
    keyword,
    level,
    sentence,
    state,
    ...(interop && { interop }),
    note,
    ...(cases && { cases }),
    ...(violation && { expected: violation.expected, actual: violation.actual }),
    ...(exchange && { exchange: exchange.name, curl: toCurl(exchange.request, exchange.name, profile, shell) }),
  };
}
