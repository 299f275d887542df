import type { readChangesets } from "@changesets/read";
import type { ContractChanges } from "../contract-diff/find-changes.ts";
import { bumpFor } from "../contract-diff/version.ts";

/** A note of a change: a file in `.changeset`. */
export type ChangeNote = Pick<Awaited<ReturnType<typeof readChangesets>>[number], "releases" | "summary">;

const steps = ["major", "minor", "patch", "none"] as const;
type VersionStep = (typeof steps)[number];

const headings = { major: "Breaking", minor: "New", patch: "Repaired" } as const;

const stepOf = ({ releases }: ChangeNote): VersionStep => largest(releases.map(({ type }) => type));
const largest = (found: readonly VersionStep[]): VersionStep => steps.find((step) => found.includes(step)) ?? "none";

/** Finds the reasons why these notes do not make a version. @returns a sentence for each */
export function faultsOfNotes(notes: readonly ChangeNote[], { changes }: ContractChanges, changelog: string): string[] {
  const [wanted, step] = [bumpFor(changes.map(({ grade }) => grade)), largest(notes.map(stepOf))];
  if (notes.length === 0)
    return isUnreleased(sectionsIn(changelog)[1])
      ? []
      : ["There is nothing to release: no file of .changeset describes a change."];
  const sentence = `The contract needs a ${wanted} step, and the notes in .changeset ask for a ${step} step: describe its changes, too.`;
  return steps.indexOf(wanted) < steps.indexOf(step) ? [sentence] : [];
}

/** Returns the section of a version, without its heading: the notes by their step, then the changes of the contract. */
export function sectionOf(notes: readonly ChangeNote[], { changes, before, now }: ContractChanges): string {
  const groups = steps.flatMap((step) => {
    const ofStep = notes.filter((note) => stepOf(note) === step);
    return step === "none" || ofStep.length === 0
      ? []
      : [`### ${headings[step]}\n\n${ofStep.map(bulletOf).join("\n")}\n`];
  });
  const lines = (grade: string): string[] =>
    changes
      .filter((change) => change.grade === grade)
      .map(({ place, what }) => `- ${grade}: ${escaped(`${place}: ${what}`)}`);
  const editorial = changes.filter(({ grade }) => grade === "editorial").length;
  const contract = [
    ...new Set([...lines("breaking"), ...lines("additive")]),
    ...(editorial === 0 ? [] : [`- editorial: ${editorial} changes of texts and examples`]),
  ];
  if (contract.length === 0) return groups.join("\n");
  return [...groups, `### The contract, ${now} (before: ${before})\n\n${contract.join("\n")}\n`].join("\n");
}

/** Returns a note as a list item. It names the packages that it is about, besides the server. */
function bulletOf({ releases, summary }: ChangeNote): string {
  const names = releases.filter(({ name }) => name !== "@parley/server").map(({ name }) => `\`${name}\``);
  const [first = "", ...rest] = summary.trim().split("\n");
  const more = rest.map((line) => (line === "" ? "" : `  ${line}`));
  return [`- ${names.length === 0 ? "" : `${names.join(", ")}: `}${first}`, ...more].join("\n");
}

/** Escapes characters that Markdown would read as markup. Code spans stay as they are. */
const escaped = (text: string): string =>
  text.replaceAll(/`[^`]*`|[\\*_<>[\]]/g, (found) => (found.length > 1 ? found : `\\${found}`));

const isUnreleased = (section = ""): boolean => /^## \S+ \(unreleased\)$/m.test(section.split("\n", 1)[0] ?? "");
const sectionsIn = (changelog: string): string[] => changelog.split(/^(?=## )/m);

/**
 * Returns the changelog with the section of a version at its top. Where the top section is called `unreleased`, it becomes
 * the section of this version, and the new text is added at its end.
 */
export function withVersion(changelog: string, version: string, date: string, section: string): string {
  const [title = "", top = "", ...others] = sectionsIn(changelog);
  const own = top.split("\n").slice(1).join("\n");
  const body = isUnreleased(top) ? [own, section] : [section];
  const older = isUnreleased(top) ? others : [top, ...others];
  const parts = [title, `## ${version} (${date})`, ...body, ...older];
  return `${parts
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join("\n\n")}\n`;
}
