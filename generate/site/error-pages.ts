import { page } from "./page.ts";

/** An entry of the contract's catalogue of errors. */
export interface CatalogEntry {
  readonly status: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly remedy: string;
  readonly retry: { readonly helps: string; readonly wait: string };
  readonly headers: readonly string[];
  readonly param: string | null;
  readonly in_stream: boolean;
}

export type ErrorCatalog = Readonly<Record<string, CatalogEntry>>;

const helps: Readonly<Record<string, string>> = {
  never: "No. The same request fails again.",
  "after-wait": "Yes, after the wait.",
  maybe: "It may.",
};

const waits: Readonly<Record<string, string>> = {
  none: "",
  "retry-after":
    "Wait as long as <code>retry-after-ms</code> (or <code>retry-after</code>) says. Do not retry if <code>x-should-retry</code> is <code>false</code>.",
  backoff: "Use exponential backoff with jitter between attempts.",
};

/** Writes the page of one error: its cause, the remedy, and advice about a retry. */
export function errorPage(code: string, entry: CatalogEntry): string {
  const place = entry.in_stream
    ? "In an answer with this status, or as the last event of a stream."
    : "In an answer with this status.";
  const headers =
    entry.headers.length === 0
      ? ""
      : `<dt>Headers with it</dt><dd>${entry.headers.map((name) => `<code>${name}</code>`).join(", ")}</dd>`;
  return page(
    `${code} (${entry.status})`,
    `<h1><code>${code}</code></h1>
<p class="title">${entry.title}</p>
<p>${markUp(entry.description)}</p>
<h2>What to do</h2>
<p>${markUp(entry.remedy)}</p>
<dl>
<dt>Status and type</dt><dd>${entry.status}, <code>${entry.type}</code></dd>
<dt>Does a retry help?</dt><dd>${helps[entry.retry.helps] ?? entry.retry.helps} ${waits[entry.retry.wait] ?? ""}</dd>
<dt>Place</dt><dd>${place}</dd>
<dt><code>error.param</code></dt><dd>${paramSentence(entry.param)}</dd>
${headers}
</dl>
<p><a href="/docs/errors">All errors</a> · <a href="/docs">Reference</a></p>`,
  );
}

export function errorIndex(catalog: ErrorCatalog): string {
  const rows = Object.entries(catalog).map(
    ([code, entry]) =>
      `<tr><td>${entry.status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${entry.title}</td></tr>`,
  );
  return page(
    "Errors",
    `<h1>Errors</h1>
<p>Every error has one form: <code>{"error": {"message", "type", "param", "code", "details"?}, "request_id"}</code>. Branch on <code>code</code>,
show <code>message</code> to people, and name <code>request_id</code> when you ask for help. An error that ends a stream is its last event, and no
<code>[DONE]</code> follows it.</p>
<table><tr><th>Status</th><th>Code</th><th>What happened</th></tr>
${rows.join("\n")}
</table>
<p><a href="/docs">Reference</a></p>`,
  );
}

function paramSentence(param: string | null): string {
  if (param === null) return "Always null.";
  return param === "required"
    ? "The path of the field at fault."
    : "The path of the field at fault, or null if the error concerns no field.";
}

/** Escapes HTML and turns the backticks of Markdown into `<code>`. */
const markUp = (text: string): string =>
  text
    .trim()
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>");
