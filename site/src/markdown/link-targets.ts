import { escapeHtml } from "./escape-html.ts";

/** The pages that prose can lead to. */
export interface LinkTargets {
  /** Returns the page of a code word, such as an error code or the name of an offered file, if there is one. */
  ofCode(code: string): string | undefined;
  /** Returns the address for a link of Markdown, or undefined if the server does not have its target. */
  ofHref(href: string): string | undefined;
  /** Replaces ids of clauses in escaped HTML text by links. */
  linkClauses(html: string): string;
  /** Returns the ids of the clauses about a place of the contract. @param pointer a JSON Pointer */
  clausesAt(pointer: string): readonly string[];
}

export interface KnownPages {
  /** The sentence of each clause, by its id. */
  readonly clauses: ReadonlyMap<string, string>;
  /** The ids of the clauses about a place of the contract, by its JSON Pointer. */
  readonly clausesByPointer: ReadonlyMap<string, readonly string[]>;
  readonly errorCodes: ReadonlySet<string>;
  /** The names of guides: their addresses behind `/docs/guides/`. */
  readonly guides: ReadonlySet<string>;
  readonly programs: ReadonlySet<string>;
  /** Paths of files that the server offers, such as `/openapi.json`. */
  readonly offered: ReadonlySet<string>;
}

/** Links to files of the repository that are shown on another page. */
const pagesOfFiles: Readonly<Record<string, string>> = {
  "openapi/admin/openapi.yaml": "/docs/admin",
  "openapi/streams.yaml": "/streams.json",
  "openapi/clauses.yaml": "/docs/clauses",
  "openapi/schemas/response-format.yaml": "/docs/reference/schemas/JsonSchemaFormat",
  "packages/client": "/docs/guides/client",
  "packages/client/README.md": "/docs/guides/client",
};

export function linkTargets({
  clauses,
  clausesByPointer,
  errorCodes,
  guides,
  programs,
  offered,
}: KnownPages): LinkTargets {
  const ids = /\b[A-Z]{2,4}-\d\d\b/g;
  return {
    ofCode(code) {
      if (errorCodes.has(code)) return `/docs/errors/${code}`;
      return offered.has(code) ? code : undefined;
    },
    ofHref(href) {
      if (/^(https?:|#|mailto:)/.test(href)) return href;
      if (href.startsWith("/")) return href;
      const [path = "", fragment] = href.split("#");
      const end = fragment === undefined ? "" : `#${fragment}`;
      const guide = /^(?:\.\.\/|docs\/|guides\/)*([\w-]+)\.md$/.exec(path)?.[1] ?? "";
      if (guides.has(guide)) return `/docs/guides/${guide}${end}`;
      const program = /\/?partners\/programs\/([\w-]+)$/.exec(path)?.[1] ?? "";
      if (programs.has(program)) return `/docs/guides/programs/${program}`;
      return pagesOfFiles[path.replaceAll("../", "").replace(/\/$/, "")];
    },
    clausesAt: (pointer) => clausesByPointer.get(pointer) ?? [],
    linkClauses: (html) =>
      html.replaceAll(ids, (id) => {
        const sentence = clauses.get(id);
        if (sentence === undefined) return id;
        return `<a class="clause" href="/docs/clauses/${id}" title="${escapeHtml(sentence.replaceAll("`", ""))}">${id}</a>`;
      }),
  };
}
