import { medianOf } from "./result.ts";
import type { BenchResult } from "./result.ts";

/** Changes below this share are noise on most machines. */
const noise = 0.1;

/**
 * Writes the changes since an earlier run as Markdown. Absolute figures of different machines cannot be compared, so costs are
 * compared as ratios to bare Node if both runs have it.
 */
export function compareResults(now: BenchResult, then: BenchResult): string {
  const lines = now.figures.flatMap((figure) =>
    now.subjects.flatMap(({ name, title }) => {
      const old = then.figures.find(({ id }) => id === figure.id);
      const [after, before] = [relative(now, figure.id, name), relative(then, figure.id, name)];
      if (!old || after === undefined || before === undefined || before === 0) return [];
      const change = after / before - 1;
      const isBetter = figure.isMoreBetter === true ? change > 0 : change < 0;
      if (Math.abs(change) < noise) return [];
      const verdict = isBetter ? "better" : "worse";
      const percent = `${change > 0 ? "+" : ""}${(change * 100).toFixed(0)} %`;
      return [`- ${title}: ${figure.title}: ${percent}, ${verdict}`];
    }),
  );
  const head = `Since ${then.date.slice(0, 10)}, ${then.commit} (costs beside bare Node; changes below ${noise * 100} % are left out):`;
  return `${head}\n${lines.length === 0 ? "- nothing" : lines.join("\n")}\n`;
}

function relative({ figures }: BenchResult, id: string, subject: string): number | undefined {
  const figure = figures.find((one) => one.id === id);
  const own = medianOf(figure, subject);
  const floor = medianOf(figure, "node");
  const isCost = figure?.unit === "CPU-µs" && subject !== "node";
  return isCost && own !== undefined && floor !== undefined ? own / floor : own;
}
