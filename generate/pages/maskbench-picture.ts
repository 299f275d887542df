import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The README whose table holds the measured figures. */
const source = join(import.meta.dirname, "../../packages/json-schema-grammar/README.md");

/** A row of the table: the share of schemas that pass in percent, and the schemas with an invalid instance accepted. */
interface Row {
  readonly name: string;
  readonly percent: number;
  readonly wrong: string;
}

const rowPattern = /^\| ([^|]+?) +\| [\d,]+ \((\d+\.\d) %\) +\| [\d,]+ +\| [\d,]+ +\| ([\d,]+) +\|/gm;

function readRows(): readonly Row[] {
  const rows = [...readFileSync(source, "utf8").matchAll(rowPattern)].map(([, name = "", percent, wrong = ""]) => ({
    name: name.replace("this package", "Parley"),
    percent: Number(percent),
    wrong,
  }));
  if (rows.length < 2) throw new Error("packages/json-schema-grammar/README.md has no table of MaskBench");
  return rows;
}

const left = 215;
const fullWidth = 430;
const rowHeight = 34;

function bar({ name, percent, wrong }: Row, index: number): string {
  const y = 58 + index * rowHeight;
  const width = Math.round((fullWidth * percent) / 100);
  return `<text x="${left - 12}" y="${y + 16}" text-anchor="end">${name}</text>
<rect class="all" x="${left}" y="${y}" width="${fullWidth}" height="22" rx="3"/>
<rect class="${index === 0 ? "own" : "other"}" x="${left}" y="${y}" width="${width}" height="22" rx="3"/>
<text class="value" x="${left + 10}" y="${y + 16}">${percent} %</text>
<text class="note" x="${left + fullWidth + 12}" y="${y + 16}">${wrong} accept invalid JSON</text>`;
}

/** Returns a picture of the measured shares as bars from 0 to 100 %, for light and dark pages. */
export function maskbenchPicture(): string {
  const rows = readRows();
  const height = 70 + rows.length * rowHeight;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 830 ${height}" width="830" height="${height}" role="img">
<title>Share of MaskBench's schemas that pass</title>
<style>
text { font: 14px system-ui, sans-serif; fill: #24292f }
.head { font-weight: 600 }
.value { fill: #fff; font-weight: 600 }
.note { fill: #57606a; font-size: 12px }
.all { fill: #eaeef2 }
.own { fill: #0f6b55 }
.other { fill: #6e7781 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.note { fill: #9198a1 }
.all { fill: #21262d }
}
</style>
<text class="head" x="${left}" y="24">Share of 11,305 JSON schemas (MaskBench) that pass</text>
<text class="note" x="${left}" y="42">A schema passes if every valid instance is accepted and every invalid one refused.</text>
${rows.map(bar).join("\n")}
</svg>
`;
}
