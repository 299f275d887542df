import { seconds } from "./row.ts";
import type { Result, Row } from "./row.ts";

/** A row that has run. */
export interface Ran {
  readonly row: Row;
  readonly result: Result;
  readonly tookMs: number;
}

const verdictOf = (result: Result): string => ("skipped" in result ? "skipped" : result.isKept ? "kept" : "BROKEN");

const foundOf = (result: Result): string => ("skipped" in result ? result.skipped : result.found);

/** Writes four lines for each row. */
export function toText(ran: readonly Ran[]): string {
  return ran
    .map(({ row, result, tookMs }) =>
      [
        `${verdictOf(result).padEnd(7)} ${row.name}: ${row.event} (${seconds(tookMs)})`,
        `        wanted ${row.wanted}`,
        `        found  ${foundOf(result)}`,
      ].join("\n"),
    )
    .join("\n");
}

/** Writes a page with one table. @param facts the machine, the versions and the duration */
export function toMarkdown(ran: readonly Ran[], facts: readonly string[]): string {
  const cells = ran.map(({ row, result, tookMs }) =>
    [row.name, row.event, row.wanted, foundOf(result), verdictOf(result), seconds(tookMs)].map((cell) =>
      cell.replaceAll("|", "\\|").replaceAll("\n", " "),
    ),
  );
  const heads = ["row", "event", "wanted", "found", "verdict", "took"];
  const lines = [heads, heads.map(() => "---"), ...cells].map((row) => `| ${row.join(" | ")} |`);
  return [...facts.map((fact) => `- ${fact}`), "", ...lines, ""].join("\n");
}
