import { suiteVersion } from "../report/report.ts";
import type { Class } from "./compare.ts";
import type { Finding } from "./case.ts";
import type { SandwichRun } from "./sandwich.ts";

/** A finding, once for all cases that show it. */
export interface FoldedFinding extends Finding {
  readonly cases: readonly string[];
}

/** The result of a sandwich run, for people and programs. */
export interface SandwichReport {
  readonly suite: { readonly name: string; readonly version: string };
  readonly run: {
    readonly startedAt: string;
    readonly durationMs: number;
    readonly baseUrl: string;
    /** Requests of the suite, and requests that reached the upstream. */
    readonly requests: number;
    readonly upstreamRequests: number;
  };
  readonly exitCode: number;
  /** Findings that count against the gateway, by class, and those that do not. */
  readonly counts: Readonly<Record<Class | "notes" | "allowed", number>>;
  readonly cases: readonly {
    readonly name: string;
    readonly does: string;
    readonly state: "kept" | "found" | "open";
    readonly reason?: string;
  }[];
  readonly findings: readonly FoldedFinding[];
}

export interface SandwichVerdictOptions {
  readonly baseUrl: string;
  readonly startedAt: string;
  readonly durationMs: number;
  /** Pointers, or the names at their ends, of differences that are legal here. */
  readonly allowed: readonly string[];
  readonly isStrict: boolean;
}

const classes: readonly Class[] = ["lost", "changed", "invented"];

/** Folds the findings of all cases and counts them. */
export function buildSandwichReport(
  { results, exchanges }: SandwichRun,
  { baseUrl, startedAt, durationMs, allowed, isStrict }: SandwichVerdictOptions,
): SandwichReport {
  const isAllowed = ({ at }: Finding): boolean =>
    allowed.some((name) => name === at || (at.startsWith("/") && at.slice(at.lastIndexOf("/") + 1) === name));
  const all = results.flatMap(({ name, findings }) => findings.map((found) => ({ ...found, cases: [name] })));
  const findings = fold(all.filter((found) => !isAllowed(found)));
  const counted = findings.filter(({ isNote }) => isStrict || !isNote);
  const hasOpen = results.some(({ open }) => open !== undefined);
  const countOf = (kind: Class): number => counted.filter((found) => found.class === kind).length;
  return {
    suite: { name: "parley-conformance sandwich", version: suiteVersion },
    run: {
      startedAt,
      durationMs: Math.round(durationMs),
      baseUrl,
      requests: exchanges.length,
      upstreamRequests: exchanges.reduce((sum, { received }) => sum + received.length, 0),
    },
    exitCode: counted.length > 0 ? 1 : hasOpen || results.length === 0 ? 3 : 0,
    counts: {
      lost: countOf("lost"),
      changed: countOf("changed"),
      invented: countOf("invented"),
      notes: findings.length - counted.length,
      allowed: all.filter(isAllowed).length,
    },
    cases: results.map(({ name, does, findings: found, open }) => ({
      name,
      does,
      state:
        open !== undefined
          ? "open"
          : found.some((one) => (isStrict || !one.isNote) && !isAllowed(one))
            ? "found"
            : "kept",
      ...(open !== undefined && { reason: open }),
    })),
    findings,
  };
}

/** Joins findings that differ only by case, position in a list and values. A finding that counts comes before its notes. */
function fold(all: readonly FoldedFinding[]): FoldedFinding[] {
  const byPlace = new Map<string, FoldedFinding>();
  for (const found of all) {
    const key = [found.class, found.side, found.at.replaceAll(/\d+/g, "N"), found.isNote].join("|");
    const known = byPlace.get(key);
    byPlace.set(key, known ? { ...known, cases: [...new Set([...known.cases, ...found.cases])] } : found);
  }
  return [...byPlace.values()];
}

/** The text for a terminal: the findings that count, by class, then the notes. */
export function sandwichToTerminal(report: SandwichReport, isStrict: boolean): string {
  const { run, counts, cases, findings } = report;
  const isCounted = ({ isNote }: Finding): boolean => isStrict || !isNote;
  const open = cases.filter(({ state }) => state === "open");
  return [
    "",
    ...classes.flatMap((kind) => {
      const own = findings.filter((found) => found.class === kind && isCounted(found));
      return own.length === 0 ? [] : [kind.toUpperCase(), ...own.flatMap(linesOf)];
    }),
    ...(findings.every(isCounted) ? [] : ["NOTES", ...findings.filter((found) => !isCounted(found)).map(noteLine)]),
    ...(open.length === 0 ? [] : [`${open.length} cases were not judged: ${open[0]?.reason ?? ""}.`]),
    `${run.baseUrl}: ${counts.lost} lost, ${counts.changed} changed, ${counts.invented} invented, ${counts.notes} notes, ${counts.allowed} allowed.`,
    `${cases.filter(({ state }) => state === "kept").length} of ${cases.length} cases passed. ${run.requests} requests, ${run.upstreamRequests} reached the upstream, ${(run.durationMs / 1000).toFixed(1)} s.`,
    "",
  ].join("\n");
}

const linesOf = ({ side, at, says, sent, got, cases }: FoldedFinding): string[] => [
  `  ${side}: ${at}  (${cases.slice(0, 3).join(", ")}${cases.length > 3 ? ` and ${cases.length - 3} more` : ""})`,
  `    ${says}`,
  ...(sent === undefined ? [] : [`    sent  ${oneLine(sent)}`]),
  ...(got === undefined ? [] : [`    got   ${oneLine(got)}`]),
];

const noteLine = ({ class: kind, side, at, says }: FoldedFinding): string => `  ${kind}, ${side}: ${at}  ${says}`;
const oneLine = (text: string): string => text.replaceAll(/[\n\r]+/g, " ");
