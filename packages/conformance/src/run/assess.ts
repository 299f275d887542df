import { unchecked } from "../clauses/test-groups.ts";
import { probes, refusalOf } from "../requests/level-probes.ts";
import { levels } from "../contract/contract.ts";
import type { Clause, Level } from "../contract/contract.ts";
import { causesOf } from "../judge/causes.ts";
import type { Cases, Check } from "../judge/check.ts";
import { Context, stepOfExchange } from "../judge/context.ts";
import { find } from "../judge/finding.ts";
import type { Finding } from "../judge/finding.ts";
import { contentOf, isCompletion } from "../judge/read.ts";
import { Answer } from "../wire/answer.ts";
import { baselineState } from "./baseline.ts";
import type { Baseline } from "./baseline.ts";
import type { Evidence } from "./perform-steps.ts";
import { checksOf, clausesOf, isCommonOnly, whatIsMissing, whyNot } from "./plan.ts";
import type { Assessment, Probed, State, Verdict } from "./verdict.ts";
import type { RunProfile } from "../profile.ts";

/** Judges evidence. It needs no network, and the same evidence gives the same verdicts. */
export function assess(
  evidence: Evidence,
  profile: RunProfile,
  options: { readonly isStrict?: boolean; readonly baseline?: Baseline; readonly today?: string } = {},
): Assessment {
  const context = contextOf(evidence, profile);
  const uncheckable = new Set(unchecked.map(({ clause }) => clause));
  const judged = clausesOf(profile).filter(({ id }) => !uncheckable.has(id));
  const verdicts = judged.map((clause) => {
    const verdict = judgeClause(clause, context, evidence, options.isStrict === true);
    const { baseline, today } = options;
    return baseline ? baselineState(verdict, baseline, today ?? new Date().toISOString().slice(0, 10)) : verdict;
  });
  const probed = levels.filter((level) => !profile.levels.includes(level)).map((level) => probe(level, context));
  const failures = verdicts.flatMap(({ clause, state, violation }) =>
    violation && state !== "PASS" ? [{ clause, violation }] : [],
  );
  const answers = new Map(context.all.map((answer) => [answer.name, answer]));
  const causes = causesOf(failures, (exchange) => answers.get(exchange));
  const { faults, stopped } = evidence;
  return { verdicts, causes, probed, unchecked, faults, ...(stopped !== undefined && { stopped }) };
}

function probe(level: Level, context: Context): Probed {
  const { uses, judge } = probes[level];
  if (!uses.every((step) => context.has(step))) return { level, note: "not probed; --probe does" };
  const finding = find(() => judge(context));
  if (finding.kind === "broken") {
    const note = `expected ${finding.expected}, got ${finding.actual}`;
    // The service accepted the request. Then the text of a small model may be to blame.
    const isOfModel = ["tools", "structured"].includes(level) && context.answer(uses[0] ?? "").status === 200;
    return isOfModel
      ? { level, note: `not shown: ${note}; a small model may be to blame` }
      : { level, isFound: false, note };
  }
  return { level, isFound: finding.kind === "kept", note: finding.kind === "kept" ? finding.seen : finding.reason };
}

function contextOf(evidence: Evidence, profile: RunProfile): Context {
  const answers = new Map<string, Answer[]>();
  for (const exchange of evidence.exchanges) {
    const step = stepOfExchange(exchange.name);
    answers.set(step, [...(answers.get(step) ?? []), new Answer(exchange)]);
  }
  return new Context(
    profile,
    answers,
    new Map(Object.entries(evidence.unsent)),
    new Map(Object.entries(evidence.covered)),
    new Map(Object.entries(evidence.records)),
  );
}

function judgeClause(clause: Clause, context: Context, evidence: Evidence, isStrict: boolean): Verdict {
  const reason = whyNot(clause, context.profile);
  if (reason !== undefined) return { clause, state: "NOT_APPLICABLE", note: reason };
  const missing =
    whatIsMissing(clause, context.profile) ?? refusalOf(clause.level, context) ?? notGreedy(clause, context);
  if (missing !== undefined) return { clause, state: "UNTESTABLE", note: missing };
  const isCommon = isCommonOnly(clause, context.profile);
  const { requirements } = context.profile;
  const own = checksOf(clause, isCommon, requirements);
  const fault = evidence.faults.find((one) => own.some(({ uses }) => uses.some((name) => one.startsWith(`"${name}"`))));
  if (fault !== undefined) return { clause, state: "ERROR", note: fault };
  try {
    const gate = (finding: Finding): Finding => (finding.kind === "kept" && !isAlive(context) ? nothingShown : finding);
    const common = (): Finding =>
      gate(
        merge(checksOf(clause, true, requirements).map((check) => find(() => (check.common ?? check.judge)(context)))),
      );
    const finding = isCommon ? common() : gate(merge(own.map(({ judge }) => find(() => judge(context)))));
    return {
      ...withCases(toVerdict(clause, finding, isStrict), own, context),
      ...(clause.openai !== undefined && { interop: interopState(isCommon ? finding : common()) }),
    };
  } catch (error) {
    return {
      clause,
      state: "ERROR",
      note: `the check threw an error: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** Adds "n of m cases" to a PASS when not every case was tried. */
function withCases(verdict: Verdict, own: readonly Check[], context: Context): Verdict {
  if (verdict.state !== "PASS") return verdict;
  const counts = own.flatMap(({ cases }) => (cases ? [cases(context)] : []));
  const sum = (name: keyof Cases): number => counts.reduce((total, one) => total + one[name], 0);
  const cases = { tried: sum("tried"), of: sum("of") };
  if (cases.tried >= cases.of) return verdict;
  return { ...verdict, cases, note: `${cases.tried} of ${cases.of} cases: ${verdict.note}` };
}

const nothingShown: Finding = {
  kind: "untestable",
  reason: "a plain request got no complete answer, so no clause can be shown to be kept",
};

/** Returns whether the plain request got a complete answer. Without one, no other answer proves anything. */
function isAlive(context: Context): boolean {
  if (context.profile.isKeyless === true) return context.all.some(({ status }) => status !== undefined);
  const plain = context.has("plain") ? context.answer("plain") : undefined;
  return plain !== undefined && isCompletion(plain) && plain.isWhole;
}

/** If the profile does not say whether the model is greedy, two answers to one question show that it is not. */
function notGreedy({ model }: Clause, context: Context): string | undefined {
  if (model !== "greedy" || context.profile.capabilities !== undefined || !context.has("plain again")) return undefined;
  const [one, other] = [context.answer("plain"), context.answer("plain again")];
  const isSame = !isCompletion(one) || !isCompletion(other) || contentOf(one) === contentOf(other);
  return isSame
    ? undefined
    : "one question at temperature 0 had two answers; if the model is greedy, say so with --model-is";
}

/** The worst of several findings about one clause counts. */
function merge(findings: readonly Finding[]): Finding {
  const order = ["broken", "untestable", "inapplicable", "kept"] as const;
  const sorted = findings.toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
  const [worst] = sorted;
  if (worst?.kind !== "kept") return worst ?? { kind: "untestable", reason: "there is no check" };
  return { kind: "kept", seen: findings.map((one) => (one.kind === "kept" ? one.seen : "")).join("; ") };
}

function toVerdict(clause: Clause, finding: Finding, isStrict: boolean): Verdict {
  switch (finding.kind) {
    case "kept":
      return { clause, state: "PASS", note: finding.seen };
    case "untestable":
      return { clause, state: "UNTESTABLE", note: finding.reason };
    case "inapplicable":
      return { clause, state: "NOT_APPLICABLE", note: finding.reason };
    case "broken": {
      const { kind: _, ...violation } = finding;
      const state = clause.keyword === "MUST" || isStrict ? "FAIL" : "WARN";
      return { clause, state, note: `expected ${violation.expected}, got ${violation.actual}`, violation };
    }
  }
}

const interopState = ({ kind }: Finding): "PASS" | "FAIL" | "UNTESTABLE" =>
  kind === "kept" ? "PASS" : kind === "broken" ? "FAIL" : "UNTESTABLE";

/**
 * 0: every clause that could be judged is kept. 1: a clause failed. 3: nothing was judged, or the run ended early, or a MUST
 * could not be judged and `requiresAll`. 4: a check of the suite made a mistake.
 */
export function exitCodeOf({ verdicts, stopped }: Assessment, requiresAll = false): 0 | 1 | 3 | 4 {
  const has = (...states: readonly State[]): boolean => verdicts.some(({ state }) => states.includes(state));
  if (has("FAIL", "XPASS")) return 1;
  if (has("ERROR")) return 4;
  const isOpen = verdicts.some(({ state, clause }) => state === "UNTESTABLE" && clause.keyword === "MUST");
  const isShort = isOpen && (requiresAll || stopped !== undefined);
  return isShort || !has("PASS", "WARN", "XFAIL") ? 3 : 0;
}
