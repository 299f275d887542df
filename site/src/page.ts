/** The parts of the portal. Each has an entry in the bar at the top and its own list of pages at the side. */
export const sections = ["guides", "reference", "try", "clauses", "errors", "admin"] as const;
export type Section = (typeof sections)[number];

/** A page of the portal, before the layout is put around it. */
export interface Page {
  /** The address without the host, such as `/docs/clauses/STRM-04`. */
  readonly path: string;
  readonly title: string;
  /** One plain sentence for search results and link previews, without Markdown. */
  readonly summary: string;
  /** The part of the portal that lists this page. Undefined for the front page and pages without a list. */
  readonly section?: Section;
  /** The heading of the list under which the page stands. */
  readonly group?: string;
  /** A shorter title for the list. */
  readonly label?: string;
  /** The whole page as Markdown, with its `#` heading. It is served at `path` + `.md`. */
  readonly markdown: string;
  /** The body as HTML, where it shows more than the rendered Markdown. */
  readonly html?: string;
  /** Further words by which the search finds the page, such as synonyms. */
  readonly words?: string;
  /** True for pages that are as wide as the window and have no list of pages at the side. */
  readonly isWide?: boolean;
  /** The browser modules that the page needs besides `main`: names of files in `src/browser/`, without `.ts`. */
  readonly scripts?: readonly string[];
  /** Further files of the page, by address. */
  readonly files?: ReadonlyMap<string, string>;
}
