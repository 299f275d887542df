import { textOf } from "../markdown/escape-html.ts";
import { linkTargets } from "../markdown/link-targets.ts";
import type { LinkTargets } from "../markdown/link-targets.ts";
import { renderMarkdown } from "../markdown/render-markdown.ts";
import type { Heading } from "../markdown/render-markdown.ts";
import { layout } from "../layout/layout.ts";
import { sectionTitles } from "../layout/navigation.ts";
import type { Page } from "../page.ts";
import { guideNames } from "../pages/guides.ts";
import { allPages } from "../pages/index.ts";
import { missingPage } from "../pages/missing.ts";
import { matrixPath, programNames } from "../pages/programs.ts";
import type { SearchRecord } from "../search-options.ts";
import type { Sources } from "../sources.ts";
import { demoData, tryData } from "../try/try-data.ts";
import { buildAssets } from "./assets.ts";
import { llmsText } from "./llms-text.ts";
import { assetFolder } from "./write-site.ts";

/** The content of each file of the site, by its address without the host. Pages have no ending. */
export type SiteFiles = Map<string, string | Buffer>;

/** The address of the front page with a notice that the models are small demonstration models. */
const demoFrontPath = "/docs.demo";

const demoNotice =
  '<div class="notice"><p>This service runs small demonstration models, which are often wrong outside of what they were taught. ' +
  'The guide <a href="/docs/guides/own-model">Your own models</a> says how to serve others.</p></div>';

/** Builds the whole site. */
export async function buildSite(sources: Sources): Promise<SiteFiles> {
  const targets = targetsOf(sources);
  const { files: assetFiles, paths: assets } = await buildAssets();
  const pages = allPages(sources, targets);
  const files: SiteFiles = new Map(assetFiles);
  const records: SearchRecord[] = [];
  for (const page of [...pages, missingPage]) {
    const { html, headings } = bodyOf(page, targets);
    const show = (notice?: string): string =>
      layout({ page, pages, body: html, headings, assets, ...(notice !== undefined && { notice }) });
    files.set(page.path, show());
    files.set(`${page.path}.md`, withAbsoluteLinks(page.markdown, targets));
    for (const [path, text] of page.files ?? []) files.set(path, text);
    if (page.path === "/docs") files.set(demoFrontPath, show(demoNotice));
    if (page !== missingPage) records.push(recordOf(page, html, headings));
  }
  files.set("/docs/search.json", JSON.stringify(records));
  files.set("/docs/try.json", JSON.stringify(tryData(sources.contract)));
  const kept = [...assetFiles.keys()].filter((path) => path.startsWith(assetFolder) && !path.endsWith(".png"));
  files.set("/docs/demo.json", JSON.stringify(demoData(sources.contract, kept)));
  files.set("/llms.txt", llmsText(pages));
  for (const [name, text] of sources.offered) files.set(`/${name}`, text);
  return files;
}

function targetsOf({ clauses, contract, offered }: Sources): LinkTargets {
  return linkTargets({
    clauses: new Map(clauses.map(({ id, sentence }) => [id, sentence])),
    clausesByPointer: idsByPointer(clauses),
    errorCodes: new Set(Object.keys(contract["x-error-catalog"])),
    guides: new Set(guideNames),
    programs: new Set(programNames()),
    offered: new Set([matrixPath, ...[...offered.keys()].map((name) => `/${name}`)]),
  });
}

const idsByPointer = (clauses: Sources["clauses"]): ReadonlyMap<string, readonly string[]> =>
  new Map(
    [...Map.groupBy(clauses, ({ pointer }) => pointer)].map(([pointer, group]) => [pointer, group.map(({ id }) => id)]),
  );

/** Returns the body of a page and its headings. A page with its own HTML has the headings of that HTML. */
function bodyOf({ html, markdown }: Page, targets: LinkTargets): { html: string; headings: readonly Heading[] } {
  if (html === undefined) return renderMarkdown(markdown, targets);
  const headings = [...html.matchAll(/<h([23]) id="([^"]+)"[^>]*>([^]*?)(?:<a class="anchor"[^]*?)?<\/h\1>/g)].map(
    ([, depth, id = "", text = ""]) => ({ depth: Number(depth), id, text: textOf(text) }),
  );
  return { html, headings };
}

/** Links of Markdown to files of the repository become addresses of this site, or their text if the site lacks the file. */
const withAbsoluteLinks = (markdown: string, targets: LinkTargets): string =>
  markdown.replaceAll(/\[([^\]]*)\]\((?!https?:|#|mailto:)([^)\s]+)\)/g, (_, text: string, href: string) => {
    const target = targets.ofHref(href);
    return target === undefined ? text : `[${text}](${target})`;
  });

function recordOf(
  { path, title, section, words = "" }: Page,
  html: string,
  headings: readonly Heading[],
): SearchRecord {
  const text = textOf(
    html
      .replaceAll(/<a class="anchor"[^]*?<\/a>|<(button|form|h1)\b[^]*?<\/\1>/g, "")
      .replaceAll(/<(p|ul) class="(?:crumbs|chips)"[^]*?<\/\1>/g, "")
      .replaceAll(/<\/(p|li|td|th|h\d|pre|dt|dd|summary|text)>/g, " "),
  )
    .replaceAll(/\s+/g, " ")
    .trim();
  // The list of all clauses would be found for every word of a clause.
  const isList = path === "/docs/clauses";
  return {
    path,
    title,
    part: section === undefined ? "" : sectionTitles[section][0],
    headings: isList ? "" : headings.map((heading) => heading.text).join(" · "),
    words,
    text: isList ? "" : text.slice(0, 12_000),
  };
}
