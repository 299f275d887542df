import { median } from "./result.ts";
import type { BenchResult, FigureResult } from "./result.ts";

// A group of bars per figure, one bar per subject, each with a whisker from the least to the most value. Twenty shapes need no library.

const width = 760;
const labelWidth = 190;
const barHeight = 16;
const headHeight = 26;
const valueWidth = 130;
const colours = { parley: "#0b6e4f", other: "#8a94a6" };

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const textAt = (x: number, y: number, text: string, more = ""): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escape(text)}</text>`;

interface Panel {
  readonly svg: string;
  readonly height: number;
}

/** The figures as an SVG that stands alone. */
export function writePlot(result: BenchResult): string {
  let top = 30;
  const panels = result.figures.map((figure) => {
    const panel = panelOf(figure, result.subjects, top);
    top += panel.height;
    return panel.svg;
  });
  const { date, commit, machine } = result;
  const title = textAt(8, 18, `${date.slice(0, 10)}, ${commit}: ${machine}`, 'font-size="11" fill="#555"');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}" viewBox="0 0 ${width} ${top}" font-family="sans-serif" font-size="11">
<rect width="${width}" height="${top}" fill="#fff"/>
${title}
${panels.join("\n")}
</svg>
`;
}

function panelOf(figure: FigureResult, subjects: BenchResult["subjects"], top: number): Panel {
  const shown = subjects.filter(({ name }) => (figure.values[name] ?? []).length > 0);
  const all = shown.flatMap(({ name }) => figure.values[name] ?? []);
  const scale = (width - labelWidth - valueWidth) / Math.max(...all, Number.EPSILON);
  const head = textAt(8, top + 18, `${figure.title}, ${figure.unit}`, 'font-weight="bold"');
  const bars = shown.map(({ name, title }, at) => {
    const values = figure.values[name] ?? [];
    return barOf(figure, { name, title, values }, top + headHeight + at * barHeight, scale);
  });
  return { svg: [head, ...bars].join("\n"), height: headHeight + shown.length * barHeight + 8 };
}

interface Bar {
  readonly name: string;
  readonly title: string;
  readonly values: readonly number[];
}

function barOf({ digits }: FigureResult, { name, title, values }: Bar, top: number, scale: number): string {
  const middle = median(values);
  const at = (value: number): string => (labelWidth + Math.max(0, value) * scale).toFixed(1);
  const line = top + barHeight / 2;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const colour = name.startsWith("parley") ? colours.parley : colours.other;
  return [
    textAt(labelWidth - 6, line + 4, title, 'text-anchor="end"'),
    `<rect x="${labelWidth}" y="${top + 2}" width="${(Math.max(0, middle) * scale).toFixed(1)}" height="${barHeight - 4}" fill="${colour}"/>`,
    `<path d="M${at(least)} ${line}H${at(most)}M${at(least)} ${line - 3}v6M${at(most)} ${line - 3}v6" stroke="#222" fill="none"/>`,
    textAt(labelWidth + Math.max(0, most) * scale + 6, line + 4, middle.toFixed(digits)),
  ].join("");
}
