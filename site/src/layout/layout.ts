import { escapeHtml } from "../markdown/escape-html.ts";
import type { Heading } from "../markdown/render-markdown.ts";
import type { Page } from "../page.ts";
import { icons, logo } from "./logo.ts";
import { neighbours, sideList, topLinks } from "./navigation.ts";

/** The addresses of the built assets, by their names in the sources, such as `main.js`. */
export type AssetPaths = ReadonlyMap<string, string>;

export interface LayoutInput {
  readonly page: Page;
  readonly pages: readonly Page[];
  readonly body: string;
  readonly headings: readonly Heading[];
  readonly assets: AssetPaths;
  /** HTML that is shown above the article, such as a notice to visitors. */
  readonly notice?: string;
}

/** Returns a whole page: head, bar at the top, list of pages, article, list of headings. */
export function layout({ page, pages, body, headings, assets, notice = "" }: LayoutInput): string {
  const isWide = page.isWide ?? false;
  const side =
    isWide || page.section === undefined
      ? ""
      : `<nav class="side" id="side" aria-label="Pages of this part">${sideList(pages, page)}</nav>`;
  const isCompact = page.section === "clauses" || page.section === "errors";
  const toc = isWide || page.section === undefined ? "" : tableOfContents(headings);
  return `${head(page, assets)}<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div class="bar">
${side === "" ? "" : `<button type="button" class="plain menu" aria-controls="side" aria-expanded="false" aria-label="Pages of this part" hidden>${icons.menu}</button>`}
<a class="brand" href="/docs">${logo}<span>Parley</span></a>
<nav class="parts" aria-label="Parts of the documentation">${topLinks(page.section)}</nav>
<button type="button" class="search-open" aria-haspopup="dialog" hidden>${icons.search}<span>Search</span><kbd>/</kbd></button>
<button type="button" class="plain theme" aria-label="Light or dark" hidden>${icons.theme}</button>
</div></header>
<div class="frame${isWide ? " wide" : ""}${side === "" ? " no-side" : ""}${toc === "" ? " no-toc" : ""}">
${side}
<main id="main" tabindex="-1">${notice}<article${isCompact ? ' class="compact"' : ""}>
${body}</article>
${isWide ? "" : neighbours(pages, page)}
<footer class="foot"><p><a href="${page.path}.md">This page as Markdown</a> · <a href="/llms.txt">llms.txt</a> · <a href="/openapi.json">openapi.json</a></p></footer>
</main>
${toc}
</div>
</body>
</html>
`;
}

function head({ path, title, summary, scripts = [] }: Page, assets: AssetPaths): string {
  const asset = (name: string): string => {
    const found = assets.get(name);
    if (found === undefined) throw new Error(`The page ${path} uses ${name}, which is not built.`);
    return found;
  };
  const modules = ["main", ...scripts].map((name) => `<script type="module" src="${asset(`${name}.js`)}"></script>`);
  const full = path === "/docs" ? "Parley documentation" : `${title} · Parley`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(full)}</title>
<meta name="description" content="${escapeHtml(summary)}">
<meta name="color-scheme" content="light dark">
<meta property="og:title" content="${escapeHtml(full)}">
<meta property="og:description" content="${escapeHtml(summary)}">
<meta property="og:type" content="article">
<meta property="og:image" content="${asset("og.png")}">
<link rel="icon" href="${asset("favicon.svg")}" type="image/svg+xml">
<link rel="alternate" type="text/markdown" href="${path}.md">
<link rel="preload" href="${asset("ibm-plex-sans-latin-400-normal.woff2")}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${asset("style.css")}">
<script src="${asset("theme.js")}"></script>
${modules.join("\n")}
</head>
`;
}

function tableOfContents(headings: readonly Heading[]): string {
  if (headings.length < 2) return "";
  const items = headings.map(
    ({ depth, id, text }) => `<li class="d${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="toc" aria-label="On this page"><p class="group">On this page</p><ul>${items.join("")}</ul></nav>`;
}
