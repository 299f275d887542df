import { countsOf, hasPassed } from "./outcome.ts";
import type { Finished } from "./outcome.ts";
import type { Selection } from "./select.ts";
import type { Step } from "./step.ts";

/** Writes the last lines of a run: times, failures, skipped parts with their reasons, and a summary line. */
export function summarize(finished: ReadonlyMap<Step, Finished>, left: Selection["left"], seconds: number): string {
  const all = [...finished];
  const width = Math.max(...all.map(([{ name }]) => name.length), 0);
  const times = all.map(
    ([{ name }, one]) => `  ${name.padEnd(width)} ${Math.round(one.seconds)} s`.padEnd(width + 12) + countsOf(one),
  );
  const skips = [
    ...all.flatMap(([{ name }, { skipped }]) => skipped.map(({ count, reason }) => ({ name, count, reason }))),
    ...left.map(({ step: { name }, reason }) => ({ name, count: 1, reason })),
  ];
  const failures = all.filter(([, { failed }]) => failed > 0).map(([{ name }]) => name);
  return [
    `\nTook ${Math.round(seconds)} s:`,
    ...times,
    ...(skips.length > 0
      ? [
          "\nSkipped:",
          ...skips.map(({ name, count, reason }) => `  ${name}: ${count > 1 ? `${count} × ` : ""}${reason}`),
        ]
      : []),
    ...(failures.length > 0 ? [`\nFailed: ${failures.join(", ")}; their logs are in .parley/ci`] : []),
    "",
    `${sum(all, "passed")} passed, ${sum(all, "failed")} failed, ${skips.reduce((total, { count }) => total + count, 0)} skipped`,
    "",
  ].join("\n");
}

const sum = (all: readonly (readonly [Step, Finished])[], what: "passed" | "failed"): number =>
  all.reduce((total, [, one]) => total + one[what], 0);

/** @returns whether nothing failed, and something ran */
export const isGreen = (finished: ReadonlyMap<Step, Finished>): boolean => {
  const all = [...finished.values()];
  return all.every(({ failed }) => failed === 0) && all.some(hasPassed);
};
