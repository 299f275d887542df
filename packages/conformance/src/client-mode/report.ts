import type { ClauseResult } from "./judge-client.ts";

/** The result of a run against an SDK, for programs. */
export interface ClientReport {
  readonly sdk: string;
  readonly judgedAt: string;
  readonly durationMs: number;
  readonly exitCode: 0 | 1 | 3;
  readonly counts: Readonly<Record<string, number>>;
  readonly clauses: readonly ClientClauseReport[];
}

export interface ClientClauseReport {
  readonly id: string;
  readonly keyword: "MUST" | "SHOULD";
  readonly state: ClauseResult["state"];
  /** Cases that failed, or were not applicable. */
  readonly cases: readonly {
    readonly name: string;
    readonly state: string;
    readonly expected?: string;
    readonly actual?: string;
    readonly note?: string;
  }[];
}

/**
 * 0: every MUST that could be judged is kept. 1: one is broken; with `isStrict` a SHOULD counts, too. 3: nothing is broken,
 * but something could not be judged, or nothing was.
 */
function exitCodeOf(results: readonly ClauseResult[], isStrict: boolean): ClientReport["exitCode"] {
  const states = results.map(({ state }) => state);
  if (states.includes("FAIL") || (isStrict && states.includes("WARN"))) return 1;
  return states.includes("UNTESTABLE") || states.every((state) => state === "NOT_APPLICABLE") ? 3 : 0;
}

export function buildClientReport(
  results: readonly ClauseResult[],
  run: { readonly sdk: string; readonly judgedAt: string; readonly durationMs: number; readonly isStrict: boolean },
): ClientReport {
  const counts: Record<string, number> = {};
  for (const { state } of results) counts[state] = (counts[state] ?? 0) + 1;
  const { sdk, judgedAt, durationMs, isStrict } = run;
  return {
    sdk,
    judgedAt,
    durationMs: Math.round(durationMs),
    exitCode: exitCodeOf(results, isStrict),
    counts,
    clauses: results.map(({ clause: { id, keyword }, state, cases }) => ({
      id,
      keyword,
      state,
      cases: cases
        .filter((one) => one.state !== "PASS")
        .map(({ name, state, expected, actual, note }) => ({
          name,
          state,
          ...(expected !== undefined && { expected }),
          ...(actual !== undefined && { actual }),
          ...(note !== undefined && { note }),
        })),
    })),
  };
}

/** The text for a terminal: a few lines for each clause that is not kept, then the counts. */
export function toClientTerminal(results: readonly ClauseResult[], report: ClientReport): string {
  const notable = results.filter(({ state }) => state !== "PASS");
  const counts = Object.entries(report.counts).map(([state, count]) => `${count} ${state}`);
  const verdicts = { 0: "keeps every MUST", 1: "breaks clauses", 3: "could not be judged in full" };
  const summary = `${report.sdk} ${verdicts[report.exitCode]} (${counts.join(", ")}; ${(report.durationMs / 1000).toFixed(0)} s).`;
  return `${[...notable.map(linesOf), summary].join("\n")}\n`;
}

function linesOf({ clause, state, cases }: ClauseResult): string {
  const odd = cases.filter((one) => one.state !== "PASS");
  if (state === "NOT_APPLICABLE" || state === "UNTESTABLE")
    return `${state} ${clause.id}  ${clause.sentence}\n       ${odd[0]?.note ?? ""}`;
  const failed = odd.filter((one) => one.state === "FAIL");
  return [
    `${state} ${clause.id}  ${clause.sentence}`,
    ...failed.flatMap(({ name, expected, actual }) => [
      `       ${name}`,
      `         expected  ${expected}`,
      `         actual    ${actual}`,
    ]),
    `       why       ${clause.why}`,
    `       comply    ${clause.comply}`,
  ].join("\n");
}
