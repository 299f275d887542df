import type { Evidence } from "../run/perform-steps.ts";
import { chaptersOf, failuresOf } from "./chapters.ts";
import type { Failure } from "./chapters.ts";
import { clauseBlock, exchangeBlock, groupOf, inline } from "./html-clause.ts";
import { policy, scriptTag, style } from "./html-parts.ts";
import { escape } from "./junit.ts";
import type { ClauseReport, Report } from "./report.ts";

/** One file with everything in it: the failures first, then every other clause, and the transcript of every exchange. */
export function toHtml(report: Report, evidence: Evidence): string {
  const { implementation, clauses } = report;
  const name = [implementation.name, implementation.version].filter(Boolean).join(" ");
  const failures = failuresOf(report);
  const shown = new Set(failures.flatMap(({ clause, also }) => [clause.id, ...also]));
  const others = (group: string): readonly ClauseReport[] =>
    clauses.filter((clause) => groupOf(clause) === group && !shown.has(clause.id));
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escape(name)}: ${report.verdict}</title><style>${style}</style>
<body><main>
${heading(name, report)}
${filterForm(report)}
<h2 id="broken">Broken: ${failures.length} causes</h2>
${failures.length === 0 ? "<p>No clause that was judged is broken.</p>" : failures.map((one) => failureBlock(one, clauses)).join("\n")}
${group(
  "Allowed by the baseline",
  others("broken").map((one) => clauseBlock(one)),
)}
${group(
  "Not judged",
  others("open").map((one) => clauseBlock(one)),
)}
${group(
  "Kept",
  others("kept").map((one) => clauseBlock(one)),
)}
${group(
  "Not claimed",
  others("not claimed").map((one) => clauseBlock(one)),
)}
${group("Exchanges", evidence.exchanges.map(exchangeBlock))}
</main>${scriptTag}</body></html>
`;
}

function heading(name: string, report: Report): string {
  const { run, clauses, contract, interop, verdict } = report;
  const count = (wanted: string): number => clauses.filter((clause) => groupOf(clause) === wanted).length;
  const tone = verdict === "conformant" ? "good" : verdict === "not conformant" ? "bad" : "mild";
  const interrupted = run.isInterrupted ? " The run was interrupted: this is what is known so far." : "";
  return `<h1>${escape(name)}: <span class="${tone}">${verdict}</span></h1>
<p>${escape(run.baseUrl)}, contract ${contract.version}. For mainstream SDKs: ${interop}.${interrupted}</p>
<ul class="counts"><li><b class="good">${count("kept")}</b>kept<li><b class="bad">${count("broken")}</b>broken<li><b class="mild">${count("open")}</b>not judged<li><b class="soft">${count("not claimed")}</b>not claimed</ul>
<p class="soft">${escape(run.startedAt)}: ${run.requests} requests, ${run.outputTokens} output tokens, ${(run.durationMs / 1000).toFixed(1)} s.</p>
<details class="about"><summary>Counts by chapter</summary>${chapterTable(report)}</details>
${variables(report)}`;
}

function chapterTable(report: Report): string {
  const rows = chaptersOf(report).map(
    ({ prefix, title, kept, broken, open, notClaimed }) =>
      `<tr><th scope="row">${prefix} <span class="soft">${title}</span><td>${kept}<td>${broken}<td>${open}<td>${notClaimed}</tr>`,
  );
  return `<table><thead><tr><th scope="col">chapter<th scope="col">kept<th scope="col">broken<th scope="col">open<th scope="col">not claimed</thead><tbody>${rows.join("")}</tbody></table>`;
}

function variables({ environment }: Report): string {
  const rows = Object.entries(environment).map(
    ([name, value]) => `<dt><code>${escape(name)}</code><dd>${inline(value)}`,
  );
  return rows.length === 0
    ? ""
    : `<details class="about"><summary>Before you run a command: environment variables</summary><dl>${rows.join("")}<dt><code>REPORT</code><dd>the folder of this file, if you moved it; long bodies are in its folder <code>bodies</code></dl></details>`;
}

function filterForm(report: Report): string {
  const chapters = chaptersOf(report).map(
    ({ prefix, title }) => `<option value="${prefix}">${prefix} ${title}</option>`,
  );
  return `<form class="filter" aria-label="Filter" hidden>
<label>State <select name="state"><option value="">all</option><option>broken</option><option value="open">not judged</option><option>kept</option><option>not claimed</option></select></label>
<label>Chapter <select name="chapter"><option value="">all</option>${chapters.join("")}</select></label>
<label>Text <input type="search" name="text" placeholder="id or words"></label><output></output></form>`;
}

function failureBlock({ clause, cause, also }: Failure, clauses: readonly ClauseReport[]): string {
  const folded = clauses.filter(({ id }) => also.includes(id));
  const head = clauseBlock(clause);
  return folded.length === 0
    ? head
    : `${head}<details class="group inner"><summary>${also.length} more for this reason: ${inline(cause)}</summary>${folded.map((one) => clauseBlock(one)).join("\n")}</details>`;
}

const group = (title: string, blocks: readonly string[]): string =>
  blocks.length === 0
    ? ""
    : `<details class="group"><summary><h2>${title}: ${blocks.length}</h2></summary>${blocks.join("\n")}</details>`;
