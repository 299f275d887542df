import { clauseOf } from "../contract/contract.ts";
import type { Exchange } from "../wire/exchange.ts";
import { chapterOf, isBroken, isOpen } from "./chapters.ts";
import { escape } from "./junit.ts";
import type { ClauseReport } from "./report.ts";

/** Text with its backticks as code, and ids of clauses that no line break divides. */
export const inline = (text: string): string =>
  escape(text)
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>")
    .replaceAll(/\b[A-Z]{2,5}-\d{2}\b/g, '<span class="id">$&</span>');

/** The group of a clause in the filter. */
export function groupOf(clause: ClauseReport): "broken" | "open" | "kept" | "not claimed" {
  if (isBroken(clause)) return "broken";
  if (isOpen(clause)) return "open";
  return clause.state === "PASS" ? "kept" : "not claimed";
}

const tones = { broken: "bad", open: "mild", kept: "good", "not claimed": "soft" } as const;
const sdkTexts: Readonly<Record<string, string>> = {
  PASS: "SDKs work with it",
  FAIL: "it breaks SDKs",
  UNTESTABLE: "open for SDKs",
};

/** A clause that opens to its finding, its reason, advice and the command. */
export function clauseBlock(clause: ClauseReport): string {
  const { id, state, interop, sentence } = clause;
  const tone = state === "WARN" || state === "XFAIL" ? "mild" : tones[groupOf(clause)];
  const forSdks = interop === undefined ? "" : ` <span class="soft">· ${sdkTexts[interop] ?? interop}</span>`;
  return `<details class="clause" id="${id}" data-state="${groupOf(clause)}" data-chapter="${chapterOf(id)}"><summary><span class="id">${id}</span> <span class="state ${tone}">${state}</span> ${inline(sentence)}${forSdks}</summary>${body(clause)}</details>`;
}

/** The finding, then the reason of the clause and advice, then the command. */
function body({ id, sentence, expected, actual, note, exchange, curl }: ClauseReport): string {
  const clause = clauseOf.get(id);
  const rows: readonly (readonly [term: string, text: string | undefined])[] = [
    ["expected", expected === sentence ? undefined : expected && inline(expected)],
    ["found", inline(actual ?? note.slice(0, 1000))],
    ["exchange", exchange && `<a href="#${anchor(exchange)}">${escape(exchange)}</a>`],
    ["why", clause && inline(clause.why)],
    ["comply", clause && inline(clause.comply)],
  ];
  const list = rows.map(([term, text]) => (text === undefined ? "" : `<dt>${term}<dd>${text}`)).join("");
  const command =
    curl === undefined
      ? ""
      : `<div class="inner"><button class="copy" type="button" hidden>Copy</button><pre tabindex="0" role="group" aria-label="command for ${id}">${escape(curl)}</pre></div>`;
  return `<dl>${list}</dl>${command}`;
}

export const anchor = (name: string): string => `x-${encodeURIComponent(name).replaceAll("%", "-")}`;
const maxShown = 20_000;

/** The transcript of an exchange, with the times of arrival. */
export function exchangeBlock({ name, request, received, end, endedMs }: Exchange): string {
  const sent =
    request.raw ??
    `${request.method} ${request.target}\n${request.headers.map((pair) => pair.join(": ")).join("\n")}\n\n${request.body ?? ""}`;
  let left = maxShown;
  const pieces = received.map(({ atMs, bytes }) => {
    const text = Buffer.from(bytes, "latin1").toString("utf8").slice(0, Math.max(left, 0));
    left -= text.length;
    return text === "" ? "" : `<span class="soft">${atMs.toFixed(1)} ms</span>\n${escape(text)}`;
  });
  const title = escape(name);
  return `<details class="exchange" id="${anchor(name)}"><summary>${title} <span class="soft">${end} after ${endedMs.toFixed(0)} ms</span></summary><pre tabindex="0" role="group" aria-label="request of ${title}">${escape(sent.slice(0, 4000))}${sent.length > 4000 ? "…" : ""}</pre><pre tabindex="0" role="group" aria-label="answer to ${title}">${pieces.join("\n") || "no answer"}${left < 0 ? "\n…" : ""}</pre></details>`;
}
