import type { Options } from "minisearch";

/** A page as the search knows it. */
export interface SearchRecord {
  readonly path: string;
  readonly title: string;
  /** The part of the portal, as it is shown beside the title. */
  readonly part: string;
  readonly headings: string;
  readonly words: string;
  readonly text: string;
}

/** The ids of clauses stay whole, besides their parts: `STRM-04` finds that clause before others of its chapter. */
const tokenize = (text: string): string[] => [
  ...(text.match(/[\p{L}\p{N}]+/gu) ?? []),
  ...(text.match(/[A-Za-z]+(?:[-_][A-Za-z0-9]+)+/g) ?? []),
];

const weightOf: Readonly<Record<string, number>> = { Guides: 1.6, Errors: 1.4, Reference: 1.2 };

export const searchOptions: Options<SearchRecord> = {
  idField: "path",
  fields: ["title", "headings", "words", "text"],
  storeFields: ["path", "title", "part", "text"],
  tokenize,
  searchOptions: {
    boost: { title: 6, words: 4, headings: 3 },
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length > 4 && !/\d/.test(term) ? 0.2 : false),
    combineWith: "AND",
    // A guide answers a question better than one of many clauses that contain its words.
    boostDocument: (_, __, fields) => weightOf[String(fields?.["part"])] ?? 1,
  },
};
