import { levels } from "../contract/contract.ts";
import type { Evidence } from "../run/perform-steps.ts";
import type { Exchange } from "../wire/exchange.ts";
import { escape } from "./junit.ts";
import type { ClauseReport, Report } from "./report.ts";

const style = `
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1b1b1b;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}
.state{font:600 12px ui-monospace,monospace;white-space:nowrap}.PASS{color:#2e7d32}.FAIL,.XPASS,.ERROR{color:#b3261e}.WARN,.UNTESTABLE,.XFAIL{color:#8a6d00}.NOT_APPLICABLE{color:#777}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f5f5f5;padding:.6rem;font-size:12px;max-height:30rem;overflow:auto}summary{cursor:pointer}.at{color:#777}
@media(prefers-color-scheme:dark){body{background:#161616;color:#e6e6e6}pre{background:#222}td,th{border-color:#333}.PASS{color:#7bd88f}.FAIL,.XPASS,.ERROR{color:#ff8a80}.WARN,.UNTESTABLE,.XFAIL{color:#e6c35c}}`;

/** One file with everything in it: every clause, and the transcript of every exchange with the times of arrival. */
export function toHtml(report: Report, evidence: Evidence): string {
  const { run, implementation } = report;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escape(implementation.name)}: ${report.verdict}</title><style>${style}</style>
<h1>${escape(implementation.name)} ${escape(implementation.version ?? "")}: ${report.verdict}</h1>
<p>Contract ${report.contract.version}. ${escape(run.baseUrl)}, ${escape(run.startedAt)}, ${run.requests} requests, ${run.outputTokens} output tokens, ${(run.durationMs / 1000).toFixed(1)} s. For mainstream SDKs: ${report.interop}.</p>
${levels.map((level) => levelSection(level, report)).join("\n")}
<h2>Exchanges</h2>
${evidence.exchanges.map(exchangeBlock).join("\n")}
</html>
`;
}

function levelSection(level: (typeof levels)[number], report: Report): string {
  const { isClaimed, isFound, note, passed, failed, open } = report.levels[level];
  const rows = report.clauses.filter((clause) => clause.level === level).map(clauseRow);
  const counts = isClaimed
    ? `${passed} kept, ${failed} broken, ${open} open`
    : `not claimed${isFound === undefined ? "" : isFound ? ", found" : ", not found"} (${escape(note ?? "")})`;
  return `<h2>${level}: ${counts}</h2><table><tr><th>clause<th>state<th>for SDKs<th>sentence and finding</tr>${rows.join("")}</table>`;
}

function clauseRow({ id, state, interop, sentence, note, exchange, curl }: ClauseReport): string {
  const link = exchange === undefined ? "" : ` <a href="#${anchor(exchange)}">${escape(exchange)}</a>`;
  const command = curl === undefined ? "" : `<pre>${escape(curl)}</pre>`;
  return `<tr id="${id}"><td>${id}<td class="state ${state}">${state}<td>${interop ?? "–"}<td>${escape(sentence)}<br><small>${escape(note.slice(0, 1000))}${link}</small>${command}</tr>`;
}

const anchor = (name: string): string => `x-${encodeURIComponent(name).replaceAll("%", "-")}`;
const maxShown = 20_000;

function exchangeBlock({ name, request, received, end, endedMs }: Exchange): string {
  const sent =
    request.raw ??
    `${request.method} ${request.target}\n${request.headers.map((pair) => pair.join(": ")).join("\n")}\n\n${request.body ?? ""}`;
  let left = maxShown;
  const pieces = received.map(({ atMs, bytes }) => {
    const text = Buffer.from(bytes, "latin1").toString("utf8").slice(0, Math.max(left, 0));
    left -= text.length;
    return text === "" ? "" : `<span class="at">${atMs.toFixed(1)} ms</span>\n${escape(text)}`;
  });
  return `<details id="${anchor(name)}"><summary>${escape(name)} <span class="at">${end} after ${endedMs.toFixed(0)} ms</span></summary><pre>${escape(sent.slice(0, 4000))}</pre><pre>${pieces.join("\n")}${left < 0 ? "\n…" : ""}</pre></details>`;
}
