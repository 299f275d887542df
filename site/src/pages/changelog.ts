import type { Page } from "../page.ts";
import type { Sources } from "../sources.ts";

/** Returns the changelog of the repository, and the changes of the contract as its diff finds them. */
export const changelogPages = ({ changelog, changes, contract }: Sources): Page[] => [
  {
    path: "/docs/reference/changes",
    title: "Changes of the contract",
    summary: `Every difference between this contract and release ${changes.since}, by its effect on callers.`,
    section: "reference",
    group: "More",
    markdown: `# Changes of the contract

The differences between the contract of this server (${contract.info.version}) and release ${changes.since}, as \`contract:diff\` finds them. Changes of
wording are left out.

## Breaking

${listOf(changes.breaking)}

## Additive

${listOf(changes.additive)}

The [changelog](/docs/changelog) says in words what they mean for callers and operators.
`,
    words: "diff version release breaking additive",
  },
  {
    path: "/docs/changelog",
    title: "Changelog",
    summary: "Changes that callers, operators and implementers notice, by release.",
    section: "reference",
    group: "More",
    markdown: changelog,
    words: "release version breaking changes upgrade",
  },
];

/** A list of places, each followed by its change. */
function listOf(changes: readonly string[]): string {
  if (changes.length === 0) return "None.";
  return changes
    .map((line) => {
      const [, place = line, change = ""] = /^(.*?\S): (?=\S)(.*)$/.exec(line) ?? [];
      return change === "" ? `- ${escape(line)}` : `- **${escape(place)}**: ${escape(change)}`;
    })
    .join("\n");
}

/** Escapes the signs of Markdown that may stand in values, such as patterns. */
const escape = (text: string): string => text.replaceAll(/([\\*_[\]<>])/g, String.raw`\$1`);
