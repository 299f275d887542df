import { Marked } from "marked";
import type { MarkedExtension, Token, Tokens } from "marked";
import { codeBlock, tabs } from "./code-block.ts";
import { escapeHtml, slugOf, textOf } from "./escape-html.ts";
import type { LinkTargets } from "./link-targets.ts";
import { tableHtml } from "./table.ts";

/** A heading of the second or third level, for the list of headings beside a page. */
export interface Heading {
  readonly depth: number;
  readonly id: string;
  readonly text: string;
}

export interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
}

/**
 * Renders Markdown. Ids of clauses, error codes and names of offered files become links. Neighbouring code blocks with a
 * label behind their language (```` ```python Python · httpx ````) become tabs.
 */
export function renderMarkdown(text: string, targets: LinkTargets): Rendered {
  const headings: Heading[] = [];
  const markdown = new Marked<string>({ renderer: rendererFor(targets, headings) });
  const plain = text
    .replaceAll(/<!--[^]*?-->\n*/g, "")
    // An anchor in front of a heading gives the heading its id.
    .replaceAll(/<a id="([^"]+)"><\/a>\s*\n(#+ .+)/g, "$2 {#$1}");
  const tokens = markdown.lexer(plain);
  return { html: markdown.parser(groupTabs(tokens)), headings };
}

/** Renders one sentence or paragraph without a surrounding element. */
export const renderInline = (text: string, targets: LinkTargets): string =>
  new Marked<string>({ renderer: rendererFor(targets, []) }).parseInline(text.trim(), { async: false });

type Renderer = NonNullable<MarkedExtension["renderer"]>;

function rendererFor(targets: LinkTargets, headings: Heading[]): Renderer {
  const used = new Map<string, number>();
  // A clause or a code inside of a link must not become a second link.
  let linkDepth = 0;
  return {
    heading({ tokens, depth }) {
      const [, html = "", given] = /^([^]*?)(?: \{#([\w-]+)\})?$/.exec(this.parser.parseInline(tokens)) ?? [];
      const id = uniqueId(given ?? slugOf(textOf(html)), used);
      if (depth === 2 || depth === 3) headings.push({ depth, id, text: textOf(html) });
      if (depth === 1) return `<h1>${html}</h1>\n`;
      return `<h${depth} id="${id}">${html}<a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`;
    },
    code: ({ text, lang }) => codeBlock(text, lang ?? ""),
    codespan({ text }) {
      const code = `<code>${escapeHtml(text)}</code>`;
      const target = linkDepth === 0 ? targets.ofCode(text) : undefined;
      return target === undefined ? code : `<a href="${target}">${code}</a>`;
    },
    text(token) {
      if ("tokens" in token && token.tokens) return this.parser.parseInline(token.tokens);
      const html = token.type === "text" && "escaped" in token && token.escaped ? token.text : escapeHtml(token.text);
      return linkDepth === 0 ? targets.linkClauses(html) : html;
    },
    link({ href, tokens }) {
      linkDepth++;
      const html = this.parser.parseInline(tokens);
      linkDepth--;
      const target = targets.ofHref(href);
      return target === undefined ? html : `<a href="${escapeHtml(target)}">${html}</a>`;
    },
    table(token) {
      const isShown = token.header.map((_, at) => !token.rows.every((row) => leadsNowhere(row[at], targets)));
      const htmlOf = (cells: readonly Tokens.TableCell[]): string[] =>
        cells.filter((_, at) => isShown[at]).map((cell) => this.parser.parseInline(cell.tokens));
      return tableHtml(
        htmlOf(token.header),
        token.rows.map((row) => htmlOf(row)),
      );
    },
  };
}

/** Checks whether a cell is only a link to a file that the server does not have, or a dash. A column of them is left out. */
function leadsNowhere(cell: Tokens.TableCell | undefined, targets: LinkTargets): boolean {
  const [only, ...others] = cell?.tokens ?? [];
  if (only === undefined || others.length > 0) return false;
  return cell?.text === "–" || (only.type === "link" && targets.ofHref(String(only["href"])) === undefined);
}

function uniqueId(id: string, used: Map<string, number>): string {
  const count = used.get(id) ?? 0;
  used.set(id, count + 1);
  return count === 0 ? id : `${id}-${count}`;
}

const isLabelled = (token: Token): token is Tokens.Code =>
  token.type === "code" && / /.test(String(token["lang"] ?? ""));

/** Joins runs of at least two labelled code blocks into tabs. */
function groupTabs(tokens: readonly Token[]): Token[] {
  const grouped: Token[] = [];
  let run: Tokens.Code[] = [];
  const flush = (): void => {
    if (run.length === 1) grouped.push(...run);
    if (run.length > 1) {
      const html = tabs(run.map(({ text, lang }) => ({ text, info: lang ?? "" })));
      grouped.push({ type: "html", raw: "", text: html, pre: false, block: true });
    }
    run = [];
  };
  for (const token of tokens) {
    if (isLabelled(token)) run.push(token);
    else if (token.type !== "space" || run.length === 0) {
      flush();
      grouped.push(token);
    }
  }
  flush();
  return grouped;
}
