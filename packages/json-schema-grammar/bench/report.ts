import { verdicts } from "./judge-case.ts";
import type { Judgement, Verdict } from "./judge-case.ts";

/** Writes the results as Markdown: by data set, by refused keyword, and in figures. */
export const report = (all: readonly Judgement[]): string =>
  [byDataSet(all), refusals(all), figures(all)].join("\n\n") + "\n";

const countOf = (judgements: readonly Judgement[], verdict: Verdict): number =>
  judgements.filter((one) => one.verdict === verdict).length;

function byDataSet(all: readonly Judgement[]): string {
  const groups = [...Map.groupBy(all, ({ dataSet }) => dataSet)].toSorted(([, a], [, b]) => b.length - a.length);
  const rows = [...groups, ["all", all] as const].map(([name, judgements]) => {
    const counts = verdicts.map((verdict) => countOf(judgements, verdict));
    const share = (100 * countOf(judgements, "pass")) / Math.max(1, judgements.length);
    return [name, judgements.length, ...counts, `${share.toFixed(1)} %`];
  });
  return table(["data set", "schemas", ...verdicts, "pass"], rows);
}

/** Lists the refusals by keyword, the most frequent first, each with an example. */
function refusals(all: readonly Judgement[]): string {
  const refused = all.filter(({ verdict }) => verdict === "refused");
  const groups = [...Map.groupBy(refused, ({ keyword, reason = "" }) => keyword ?? reason)];
  const rows = groups
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([keyword, judgements]) => [keyword, judgements.length, judgements[0]?.reason ?? "", judgements[0]?.id ?? ""]);
  return table(["refused for", "schemas", "for example", "in"], rows);
}

function figures(all: readonly Judgement[]): string {
  const ms = (name: string, values: readonly number[]): (string | number)[] => [
    name,
    ...[0.5, 0.99, 1].map((share) => quantile(values, share)),
  ];
  const accepted = all.filter(({ grammarCharacters }) => grammarCharacters !== undefined);
  return table(
    ["figure", "p50", "p99", "max"],
    [
      ms(
        "compile, ms of CPU",
        all.flatMap(({ compileMs }) => compileMs ?? []),
      ),
      ms(
        "compile what is not refused, ms of CPU",
        accepted.flatMap(({ compileMs }) => compileMs ?? []),
      ),
      ms(
        "grammar, characters",
        accepted.flatMap(({ grammarCharacters }) => grammarCharacters ?? []),
      ),
      ms(
        "llama.cpp matches all instances of a schema, ms of CPU",
        accepted.flatMap(({ matchMs }) => matchMs ?? []),
      ),
    ],
  );
}

/**
 * Compares result files: pass rates and compile times over the schemas that all of them have. Libraries other than ours are
 * not tried with other orders of members, so `other order` counts as `valid rejected` here.
 * @param runs the results of each file, by the name to show
 */
export function sideBySide(runs: ReadonlyMap<string, readonly Judgement[]>): string {
  const counts = Map.groupBy([...runs.values()].flat(), ({ id }) => id);
  const isShared = ({ id }: Judgement): boolean => counts.get(id)?.length === runs.size;
  const rows = Array.from(runs, ([name, results]) => {
    const shared = results.filter(isShared);
    const count = (...some: readonly Verdict[]): number =>
      shared.filter(({ verdict }) => some.includes(verdict)).length;
    const share = (100 * count("pass")) / Math.max(1, shared.length);
    const times = shared.flatMap(({ verdict, compileMs }) => (verdict === "refused" ? [] : (compileMs ?? [])));
    return [
      name,
      shared.length,
      `${count("pass")} (${share.toFixed(1)} %)`,
      count("refused"),
      count("valid rejected", "other order"),
      count("invalid accepted"),
      count("died", "late"),
      ...[0.5, 0.99].map((part) => quantile(times, part).toFixed(1)),
    ];
  });
  return table(
    ["", "schemas", "pass", "refused", "valid rejected", "invalid accepted", "died, late", "compile p50, ms", "p99"],
    rows,
  );
}

/** @param share 0 to 1 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Lists the schemas whose verdict differs from an earlier run. */
export function changes(before: readonly Judgement[], after: readonly Judgement[]): string {
  const earlier = new Map(before.map((one) => [one.id, one]));
  const rows = after.flatMap((now) => {
    const then = earlier.get(now.id);
    if (!then || then.verdict === now.verdict) return [];
    return [[now.id, then.verdict, now.verdict, now.reason ?? ""]];
  });
  return `${table(["schema", "before", "now", "why"], rows)}\n`;
}

/** Writes a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string =>
    `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
