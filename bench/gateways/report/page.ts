import { compareWithAims } from "./aims.ts";
import { median } from "./result.ts";
import type { BenchResult, FigureResult } from "./result.ts";

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");

/** The median, with the least and the most where there were several rounds. */
function cell({ values, digits }: FigureResult, subject: string): string {
  const measured = values[subject] ?? [];
  return measured.length === 0 ? "–" : spread(measured, digits);
}

function spread(values: readonly number[], digits: number): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits));
  const middle = median(values).toFixed(digits);
  return least === most ? middle : `${middle} (${least}–${most})`;
}

function figuresTable({ subjects, figures }: BenchResult): string {
  const head = ["", "unit", ...subjects.map(({ title }) => title)];
  const rows = figures.map((figure) => [figure.title, figure.unit, ...subjects.map(({ name }) => cell(figure, name))]);
  return table(head, rows);
}

function aimsTable(result: BenchResult): string {
  const titles = new Map(result.subjects.map(({ name, title }) => [name, title]));
  const titleOf = (name: string): string => titles.get(name) ?? (name === "nothing" ? "" : name);
  const rows = compareWithAims(result).map(({ title, subject, against, aim, measured, rounds, isMet }) => [
    title,
    titleOf(subject),
    titleOf(against),
    aim,
    `${rounds ? spread(rounds, 3) : measured.toFixed(2)}${isMet ? "" : " (missed)"}`,
  ]);
  return table(["", "of", "beside", "aim", "measured"], rows);
}

/** The report of a run, as Markdown. */
export function writePage(result: BenchResult): string {
  const { date, commit, isChanged, duty, rounds, machine, note, missing } = result;
  const tree = `${commit}${isChanged ? " with changes" : ""}`;
  return `# What a token costs: ${date.slice(0, 10)}, ${tree}

${machine}. Duty: ${duty}, ${rounds} ${rounds === 1 ? "round" : "rounds"}, subjects in turns. Medians, with the least and the most of all rounds.${note === undefined ? "" : `\n\n${note}`}

![the figures as bars](plot.svg)

${figuresTable(result)}

## Aims

Ratios or differences between the medians of this run, and for tracing the median of the ratios of each round. A missed aim fails nothing.

${aimsTable(result)}
${missing.length === 0 ? "" : `\n## Not measured\n\n${missing.map((line) => `- ${line}\n`).join("")}`}`;
}
