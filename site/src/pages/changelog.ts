import type { Page } from "../page.ts";
import type { Sources } from "../sources.ts";

export const changelogPage = ({ changelog }: Sources): Page => ({
  path: "/docs/changelog",
  title: "Changelog",
  summary: "Changes that callers, operators and implementers notice, by release.",
  section: "reference",
  group: "More",
  markdown: changelog,
  words: "release version breaking changes upgrade",
});
