import { escapeHtml, textOf } from "./escape-html.ts";

/** A row: the HTML of each cell. */
type Row = readonly string[];

interface TableOptions {
  /** True if the first cell of a row names the row. */
  readonly hasRowNames?: boolean;
  /** Returns the attributes of a row's element. */
  readonly attributesOf?: (row: Row, at: number) => string;
}

/** Characters that fit next to each other in a window of 390 pixels, and the space between two columns. */
const narrowCharacters = 48;
const gapCharacters = 2;
/** A longer cell is broken into lines of this length. */
const lineCharacters = 22;
/** A table with more columns is a matrix: its rows cannot be read one by one. */
const maxStackedColumns = 6;

/** Checks whether a narrow window shows each row as a block of labelled lines, because the columns do not fit. */
function isStacked(heads: Row, rows: readonly Row[]): boolean {
  if (heads.length < 3 || heads.length > maxStackedColumns) return false;
  const widths = heads.map((head, at) => {
    const cells = [head, ...rows.map((row) => row[at] ?? "")];
    return Math.min(lineCharacters, Math.max(...cells.map((cell) => textOf(cell).length)));
  });
  return widths.reduce((sum, width) => sum + width + gapCharacters, 0) > narrowCharacters;
}

/** Returns a table in a frame that scrolls sideways by itself, so that the page does not. */
export function tableHtml(heads: Row, rows: readonly Row[], { hasRowNames, attributesOf }: TableOptions = {}): string {
  const isStack = isStacked(heads, rows);
  const cellHtml = (cell: string, at: number): string => {
    if (at === 0 && hasRowNames === true) return `<th scope="row">${cell}</th>`;
    // The style sheet shows the label in front of the cell.
    const label = isStack && at > 0 ? ` data-label="${escapeHtml(textOf(heads[at] ?? ""))}"` : "";
    return `<td${label}>${cell}</td>`;
  };
  const head = heads.map((one) => `<th scope="col">${one}</th>`).join("");
  const body = rows.map(
    (row, at) =>
      `<tr${attributesOf?.(row, at) ?? ""}>${row.map((cell, column) => cellHtml(cell, column)).join("")}</tr>`,
  );
  const classes = ["table", ...(isStack ? ["stack"] : []), ...(heads.length > 4 ? ["dense"] : [])].join(" ");
  return `<div class="${classes}" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>${body.join("")}</tbody></table></div>\n`;
}
