import { breakable, escapeHtml } from "../markdown/escape-html.ts";
import type { LinkTargets } from "../markdown/link-targets.ts";
import { renderMarkdown } from "../markdown/render-markdown.ts";
import type { Page } from "../page.ts";
import type { CatalogEntry, Clause, Sources } from "../sources.ts";

const helps: Readonly<Record<CatalogEntry["retry"]["helps"], string>> = {
  never: "No. The same request fails again.",
  "after-wait": "Yes, after the wait.",
  maybe: "It may.",
};

const waits: Readonly<Record<CatalogEntry["retry"]["wait"], string>> = {
  none: "",
  "retry-after":
    " Wait as long as `retry-after-ms` (or `retry-after`) says. Do not retry if `x-should-retry` is `false`.",
  backoff: " Use exponential backoff with jitter between attempts.",
};

/** Words of people who search for an error without its code. */
const synonyms: Readonly<Record<string, string>> = {
  context_length_exceeded: "too many tokens overflow",
  insufficient_quota: "no money payment",
  invalid_api_key: "wrong key unauthorized authentication",
  model_not_found: "unknown wrong model",
  unsupported_media_type: "gzip compressed form content type",
  unsupported_value: "image audio file vision",
};

/** Returns the page of each error code, and the list of all of them. */
export function errorPages({ contract, clauses }: Sources, targets: LinkTargets): Page[] {
  const entries = Object.entries(contract["x-error-catalog"]).toSorted(
    ([a, { status: one }], [b, { status: other }]) => one - other || a.localeCompare(b),
  );
  return [errorIndex(entries), ...entries.map(([code, entry]) => errorPage(code, entry, clauses, targets))];
}

function errorPage(code: string, entry: CatalogEntry, clauses: readonly Clause[], targets: LinkTargets): Page {
  const { status, type, title, remedy } = entry;
  const body = errorBody(code, entry, clauses);
  const statusClass = `s${String(status)[0]}`;
  const retry =
    entry.retry.helps === "never"
      ? "A retry fails again"
      : entry.retry.helps === "maybe"
        ? "A retry may help"
        : "Retry after the wait";
  const html = `<p class="crumbs"><a href="/docs/errors">Errors</a> / ${status}</p>
<h1><code>${breakable(code)}</code></h1>
<p class="lead">${escapeHtml(title)}</p>
<ul class="chips"><li class="${statusClass}">HTTP ${status}</li><li><code>${type}</code></li><li>${retry}</li>${entry.in_stream ? "<li>May end a stream</li>" : ""}</ul>
${renderMarkdown(body, targets).html}`;
  return {
    path: `/docs/errors/${code}`,
    title: `${code} (${status})`,
    label: code,
    summary: `${title}. ${remedy}`.replaceAll("`", ""),
    section: "errors",
    group: `${status}`,
    markdown: `# ${code}\n\nHTTP ${status}, type \`${type}\`. ${title}.\n\n${body}`,
    html,
    words: `${status} ${type} ${title} ${synonyms[code] ?? ""} retry error`,
  };
}

function errorBody(code: string, entry: CatalogEntry, clauses: readonly Clause[]): string {
  const { description, remedy, retry, headers, param, in_stream: isInStream } = entry;
  const place = isInStream
    ? "In an answer with this status, or as the last event of a stream."
    : "In an answer with this status.";
  const related = clauses.filter(
    ({ pointer, sentence }) => pointer === `/x-error-catalog/${code}` || sentence.includes(`\`${code}\``),
  );
  const list = related.map(({ id, sentence }) => `- ${id}: ${sentence}`).join("\n");
  return `${description}

## What to do

${remedy}

| question | answer |
| --- | --- |
| Does a retry help? | ${helps[retry.helps]}${waits[retry.wait]} |
| Where does it appear? | ${place} |
| \`error.param\` | ${paramSentence(param)} |
| Headers besides the usual ones | ${headers.map((name) => `\`${name}\``).join(", ") || "none"} |

## How it looks

\`\`\`json
${JSON.stringify(sample(code, entry), undefined, 2)}
\`\`\`
${list === "" ? "" : `\n## Clauses\n\n${list}\n`}`;
}

/** An error of this code as a body. The texts of a real one say more about the request. */
const sample = (code: string, { title, type, param }: CatalogEntry): object => ({
  error: { message: title, type, param: param === "required" ? "messages[0].role" : null, code },
  request_id: "req_9f2c7d1e5b8a4036",
});

function paramSentence(param: CatalogEntry["param"]): string {
  if (param === null) return "Always null.";
  return param === "required"
    ? "The path of the member at fault."
    : "The path of the member at fault, or null if the error concerns no member.";
}

function errorIndex(entries: readonly (readonly [string, CatalogEntry])[]): Page {
  const rows = entries.map(
    ([code, { status, title, retry }]) =>
      `| [\`${code}\`](/docs/errors/${code}) | ${status} | ${title} | ${{ never: "no", maybe: "maybe", "after-wait": "after the wait" }[retry.helps]} |`,
  );
  return {
    path: "/docs/errors",
    title: "Error codes",
    label: "All errors",
    summary: "Every error code, with its status, its cause and the remedy.",
    section: "errors",
    markdown: `# Error codes

Every error has one form. Branch on \`code\`, show \`message\` to people, and name \`request_id\` when you ask for help. The \`Link\` header
of an error leads to its page. An error that ends a stream is its last event, and no \`[DONE]\` follows it.

\`\`\`json
{
  "error": {
    "message": "…",
    "type": "invalid_request_error",
    "param": "messages[0].role",
    "code": "invalid_value"
  },
  "request_id": "req_9f2c7d1e5b8a4036"
}
\`\`\`

| Code | Status | Meaning | Retry |
| --- | --- | --- | --- |
${rows.join("\n")}

[Errors and retries](errors.md) shows how to handle them.
`,
    words: "error codes status retry failure",
  };
}
