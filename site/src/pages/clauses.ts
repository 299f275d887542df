import type { LinkTargets } from "../markdown/link-targets.ts";
import { renderInline, renderMarkdown } from "../markdown/render-markdown.ts";
import type { Page } from "../page.ts";
import type { Clause, ClauseCheck, Sources } from "../sources.ts";
import { describePointer } from "./pointer.ts";

/** The chapters of the clauses, in the order of the contract, by the letters of their ids. */
export const chapters: Readonly<Record<string, string>> = {
  HTTP: "Methods, paths, media types",
  AUTH: "The key",
  MODL: "The models",
  REQ: "Members of a request",
  MSG: "Messages and their context",
  RESP: "A whole answer",
  SAMP: "How tokens are chosen",
  STRM: "The stream",
  TOOL: "Functions that the model calls",
  FMT: "The form of the content",
  LOGP: "Log-probabilities",
  ERR: "Errors",
  LIM: "Limits",
  OPS: "Failing engines, load, charges",
  ACCT: "Own keys and receipts",
  IDEM: "Calls that may be repeated",
};

const prefixOf = (id: string): string => id.slice(0, id.indexOf("-"));
const groupOf = (prefix: string): string => `${prefix} · ${chapters[prefix] ?? prefix}`;

const models: Readonly<Record<Clause["model"], string>> = {
  any: "Any model shows it",
  greedy: "Needs a greedy model",
  guided: "Needs a guided model",
  scripted: "Needs a scripted engine",
};

/** Returns the page of each clause, and the list of all of them. */
export function clausePages({ clauses, checks, contract }: Sources, targets: LinkTargets): Page[] {
  const pages = clauses.map((clause) => clausePage(clause, checks[clause.id] ?? { how: [] }, targets, contract));
  return [clauseIndex(clauses, targets), ...pages];
}

function clausePage(clause: Clause, check: ClauseCheck, targets: LinkTargets, contract: Sources["contract"]): Page {
  const { id, keyword, level, since, model, sentence } = clause;
  const prefix = prefixOf(id);
  const body = clauseBody(clause, check, describePointer(contract, clause.pointer));
  const html = `<p class="crumbs"><a href="/docs/clauses">Clauses</a> / <a href="/docs/clauses#${prefix.toLowerCase()}">${groupOf(prefix)}</a></p>
<h1>${id}</h1>
<ul class="chips"><li class="${keyword.toLowerCase()}">${keyword}</li><li>Level ${level}</li><li>Since ${since}</li><li>${models[model]}</li></ul>
<p class="sentence">${renderInline(sentence, targets)}</p>
${renderMarkdown(body, targets).html}`;
  return {
    path: `/docs/clauses/${id}`,
    title: `${id}: ${shorten(sentence)}`,
    label: id,
    summary: sentence.replaceAll("`", ""),
    section: "clauses",
    group: groupOf(prefix),
    markdown: `# ${id}\n\n${keyword}, level ${level}, since ${since}. ${models[model]}.\n\n> ${sentence}\n\n${body}`,
    html,
    words: `${id} ${prefix}`,
  };
}

/** The sections below the sentence, as Markdown. */
function clauseBody({ why, comply, faults, id }: Clause, { how, unchecked, curl }: ClauseCheck, place: string): string {
  const checked =
    how.length > 0
      ? how.map((one) => `- ${one}`).join("\n")
      : `The conformance suite does not check this clause: ${unchecked ?? "it cannot be seen from outside."}`;
  const broken = faults.map((fault) => fault.replaceAll("-", " ")).join("; ");
  const command = `npx -y pnpm@12.21.0 conformance explain ${id}`;
  return `## Why it matters

${why}

## How to comply

${comply}

## How it is checked

${checked}

The check has to notice a server with one of these faults: ${broken}.
${curl === undefined ? "" : `\n## Try it\n\n\`\`\`sh\n${breakCurl(curl)}\n\`\`\`\n`}
## In the contract

${place}

The conformance suite explains this clause on the command line, too: \`${command}\`. The guide
[Judging an implementation](conformance.md) says how to run it.
`;
}

/** Breaks a long curl command into a line for each of its headers and the body. */
const breakCurl = (curl: string): string => curl.replaceAll(/ (?=-H |--data-raw )/g, " \\\n  ");

const shorten = (sentence: string): string => {
  const plain = sentence.replaceAll("`", "");
  return plain.length <= 64 ? plain : `${plain.slice(0, 64).replace(/\s+\S*$/, "")}…`;
};

function clauseIndex(clauses: readonly Clause[], targets: LinkTargets): Page {
  const byChapter = [...Map.groupBy(clauses, ({ id }) => prefixOf(id))];
  const musts = clauses.filter(({ keyword }) => keyword === "MUST").length;
  const intro = `The contract has ${clauses.length} numbered clauses: ${musts} MUST, ${clauses.length - musts} SHOULD. An id is permanent and never used again.`;
  const parts = byChapter.map(([prefix, members]) => {
    const rows = members.map(
      ({ id, level, sentence }) =>
        `<li><a href="/docs/clauses/${id}">${id}</a><p>${renderInline(sentence, targets)}</p><span class="level">${level}</span></li>`,
    );
    return `<h2 id="${prefix.toLowerCase()}">${groupOf(prefix)}</h2><ul class="clauses">${rows.join("")}</ul>`;
  });
  const text = byChapter.map(
    ([prefix, members]) =>
      `## ${groupOf(prefix)}\n\n${members.map(({ id, keyword, sentence }) => `- [${id}](/docs/clauses/${id}.md) (${keyword}) ${sentence}`).join("\n")}`,
  );
  return {
    path: "/docs/clauses",
    title: "Clauses",
    label: "All clauses",
    summary: intro,
    section: "clauses",
    markdown: `# Clauses\n\n${intro}\n\n${text.join("\n\n")}\n`,
    html: `<h1>Clauses</h1><p class="lead">${intro} Each has a page with its reason, its check and advice for implementers.</p>${parts.join("\n")}`,
    words: "norm rules contract MUST SHOULD conformance",
  };
}
