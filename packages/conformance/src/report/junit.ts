import { levels } from "../contract/contract.ts";
import type { ClauseReport, Report } from "./report.ts";

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};
// XML has no way to write most control characters, so they are shown as a question mark.
// oxlint-disable-next-line eslint/no-control-regex
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;
export const escape = (text: string): string =>
  text.replaceAll(unwritable, "?").replaceAll(/[&<>"']/g, (one) => escapes[one] ?? one);

/** One case per clause, a suite per level. */
export function toJunit(report: Report): string {
  const suites = levels.map((level) => {
    const own = report.clauses.filter((clause) => clause.level === level);
    const count = (...states: readonly string[]): number => own.filter(({ state }) => states.includes(state)).length;
    const attributes = `name="${level}" tests="${own.length}" failures="${count("FAIL", "XPASS")}" errors="${count("ERROR")}" skipped="${count("NOT_APPLICABLE", "UNTESTABLE", "XFAIL")}"`;
    return [`  <testsuite ${attributes}>`, ...own.map(toCase), "  </testsuite>"].join("\n");
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${escape(report.implementation.name)}">\n${suites.join("\n")}\n</testsuites>\n`;
}

function toCase({ id, level, sentence, state, note, curl = "" }: ClauseReport): string {
  const inner: Readonly<Record<string, string>> = {
    FAIL: `<failure message="${escape(note)}">${escape(curl)}</failure>`,
    XPASS: `<failure message="${escape(note)}"/>`,
    ERROR: `<error message="${escape(note)}"/>`,
    WARN: `<system-out>${escape(`WARN ${note}`)}</system-out>`,
  };
  const skipped = `<skipped message="${escape(`${state}: ${note}`)}"/>`;
  const body = state === "PASS" ? "" : (inner[state] ?? skipped);
  return `    <testcase classname="${level}" name="${id} ${escape(sentence)}">${body}</testcase>`;
}
