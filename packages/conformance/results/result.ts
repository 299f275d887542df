import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Report } from "../src/report/report.ts";
import type { SandwichReport } from "../src/sandwich/report.ts";
import type { Product } from "./product.ts";

const here = fileURLToPath(new URL(".", import.meta.url));

/** A result counts as old after this number of days: products and their dependencies change. */
export const maxAgeDays = 120;

/** The facts of a judged run, with its failures and open clauses; everything that was kept is only named. */
export interface Result {
  readonly product: Pick<Product, "name" | "title" | "kind" | "version" | "from" | "behind" | "note">;
  readonly set: string;
  /** The profile of clauses, or `sandwich`. */
  readonly profile: string;
  /** Day of the run, as YYYY-MM-DD. */
  readonly date: string;
  readonly maxAgeDays: number;
  /** Hash of the checks that judged, see `hashChecks`. */
  readonly checks: string;
  /** The command of the suite, and the command that installs the product and runs it. */
  readonly command: string;
  readonly reproduce: string;
  readonly exitCode: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly run: Readonly<Record<string, unknown>>;
  readonly kept: readonly string[];
  readonly failures: readonly unknown[];
  readonly open: readonly unknown[];
}

export type Origin = Omit<Result, "exitCode" | "counts" | "run" | "kept" | "failures" | "open">;

const maxQuoted = 240;
const cut = (text: string): string => (text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text);

/** Keeps of a report what a reader compares. */
export function resultOf(origin: Origin, report: Report): Result {
  const { exitCode, verdict, interop, run, causes } = report;
  const clauses = report.clauses.filter(({ state }) => state !== "NOT_APPLICABLE");
  const inState = (...states: readonly string[]): Report["clauses"] =>
    clauses.filter(({ state }) => states.includes(state));
  return {
    ...origin,
    exitCode,
    counts: {
      kept: inState("PASS").length,
      broken: inState("FAIL", "WARN").length,
      causes: causes.length,
      open: inState("UNTESTABLE", "ERROR").length,
    },
    run: {
      verdict,
      interop,
      requests: run.requests,
      outputTokens: run.outputTokens,
      seconds: Math.round(run.durationMs / 100) / 10,
      levels: run.claimed,
      capabilities: run.capabilities,
      seed: run.seed,
    },
    kept: inState("PASS").map(({ id }) => id),
    failures: inState("FAIL", "WARN").map(({ id, state, interop: sdk, expected = "", actual = "", note }) => ({
      id,
      state,
      ...(sdk !== undefined && { interop: sdk }),
      ...(expected === "" ? { note: cut(note) } : { expected: cut(expected), actual: cut(actual) }),
    })),
    open: inState("UNTESTABLE", "ERROR").map(({ id, note }) => ({ id, note: cut(note) })),
  };
}

export function sandwichResultOf(origin: Origin, { exitCode, counts, run, cases, findings }: SandwichReport): Result {
  return {
    ...origin,
    exitCode,
    counts,
    run: {
      requests: run.requests,
      upstreamRequests: run.upstreamRequests,
      seconds: Math.round(run.durationMs / 100) / 10,
    },
    kept: cases.filter(({ state }) => state === "kept").map(({ name }) => name),
    failures: findings.map(({ class: kind, side, at, isNote, says, sent, got, cases: names }) => ({
      class: kind,
      side,
      at,
      ...(isNote && { isNote }),
      says,
      ...(sent !== undefined && { sent: cut(sent) }),
      ...(got !== undefined && { got: cut(got) }),
      cases: names,
    })),
    open: cases.filter(({ state }) => state === "open").map(({ name, reason }) => ({ id: name, note: reason ?? "" })),
  };
}

/** Writes one member in each line, and one failure, so that two results can be compared line by line. */
export function writeLines(file: string, value: object): void {
  const line = (one: unknown): string =>
    Array.isArray(one) && typeof one[0] === "object"
      ? `[\n${one.map((item) => `  ${JSON.stringify(item)}`).join(",\n")}\n ]`
      : JSON.stringify(one);
  const members = Object.entries(value).map(([name, one]) => ` ${JSON.stringify(name)}: ${line(one)}`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `{\n${members.join(",\n")}\n}\n`);
}

export const fileOf = ({ set, profile, product }: Pick<Result, "set" | "profile" | "product">): string =>
  join(here, set, profile, product.name, "result.json");

/** Reads all results of a set, by profile and product. */
export function readResults(set: string): Result[] {
  const folder = join(here, set);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("result.json"))
    .toSorted()
    .map((path) => JSON.parse(readFileSync(join(folder, path), "utf8")) as Result); // this program wrote it
}

/** A hash of the checks: those of the frozen set, or the sources of `sandwich`. A result with another one was judged by other checks. */
export function hashChecks(profile: string, set: string): string {
  const hash = createHash("sha256");
  const folder = join(here, "../src/sandwich");
  const files =
    profile === "sandwich"
      ? readdirSync(folder)
          .toSorted()
          .map((name) => join(folder, name))
      : [join(here, "../requirements", `${set}.json`)];
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

/** Says which results are older than their limit, or were judged by other checks. */
export function staleNotes(
  results: readonly Result[],
  now: Date,
  checksOf: (profile: string, set: string) => string,
): string[] {
  return results.flatMap(({ product, set, profile, date, maxAgeDays: limit, checks }) => {
    const days = Math.floor((now.getTime() - Date.parse(date)) / 86_400_000);
    return [
      ...(days > limit ? [`${profile}/${product.name} is ${days} days old, its limit is ${limit}.`] : []),
      ...(checks === checksOf(profile, set)
        ? []
        : [`${profile}/${product.name} was judged by other checks than those of today.`]),
    ];
  });
}
