import { breakable, escapeHtml } from "../markdown/escape-html.ts";
import { sections } from "../page.ts";
import type { Page, Section } from "../page.ts";

/** The entries of the bar at the top: the title of each part, and its first page. */
export const sectionTitles: Readonly<Record<Section, readonly [title: string, path: string]>> = {
  guides: ["Guides", "/docs/guides"],
  reference: ["Reference", "/docs/reference"],
  try: ["Try it", "/docs/try"],
  clauses: ["Clauses", "/docs/clauses"],
  errors: ["Errors", "/docs/errors"],
  admin: ["Admin", "/docs/admin"],
};

const link = (path: string, text: string, isCurrent: boolean): string =>
  `<a href="${path}"${isCurrent ? ' aria-current="page"' : ""}>${escapeHtml(text)}</a>`;

/** Returns the links of the bar at the top. */
export function topLinks(section: Section | undefined): string {
  const entries = sections.map((name) => {
    const [title, path] = sectionTitles[name];
    return `<a href="${path}"${name === section ? ' aria-current="true"' : ""}>${title}</a>`;
  });
  return entries.join("");
}

/** Returns the list of pages of a part, grouped. Of a group of clauses, only the current one is shown whole. */
export function sideList(pages: readonly Page[], current: Page): string {
  const listed = pages.filter(({ section }) => section === current.section);
  const groups = Map.groupBy(listed, ({ group = "" }) => group);
  return [...groups].map(([group, members]) => groupOf(group, members, current)).join("");
}

function groupOf(group: string, members: readonly Page[], current: Page): string {
  const isClauses = current.section === "clauses" && group !== "";
  const isCurrent = members.some(({ path }) => path === current.path);
  if (isClauses && !isCurrent) {
    const prefix = /^\w+/.exec(group)?.[0] ?? "";
    return `<p class="group"><a href="/docs/clauses#${prefix.toLowerCase()}">${escapeHtml(group)}</a></p>`;
  }
  const items = members.map(
    ({ path, label, title }) => `<li>${link(path, label ?? title, path === current.path)}</li>`,
  );
  const heading = group === "" ? "" : `<p class="group">${escapeHtml(group)}</p>`;
  return `${heading}<ul${isClauses ? ' class="grid"' : ""}>${items.join("")}</ul>`;
}

/** Returns links to the pages before and after a page in its part. */
export function neighbours(pages: readonly Page[], current: Page): string {
  const listed = pages.filter(({ section }) => section !== undefined && section === current.section);
  const at = listed.indexOf(current);
  const before = at > 0 ? listed[at - 1] : undefined;
  const after = at >= 0 ? listed[at + 1] : undefined;
  const entry = (page: Page | undefined, rel: string, word: string): string =>
    page === undefined
      ? ""
      : `<a class="${rel}" rel="${rel}" href="${page.path}"><small>${word}</small>${breakable(page.label ?? page.title)}</a>`;
  const links = entry(before, "prev", "Previous") + entry(after, "next", "Next");
  return links === "" ? "" : `<nav class="neighbours" aria-label="Previous and next page">${links}</nav>`;
}
