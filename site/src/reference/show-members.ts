import { escapeHtml } from "../markdown/escape-html.ts";
import type { LinkTargets } from "../markdown/link-targets.ts";
import { renderInline } from "../markdown/render-markdown.ts";
import type { Member } from "./members.ts";

/** Shows members as a list. Members inside of others are folded, and open when a link leads to them. */
export const membersHtml = (members: readonly Member[], targets: LinkTargets, prefix = ""): string =>
  members.length === 0
    ? ""
    : `<div class="members">${members.map((member) => memberHtml(member, targets, prefix)).join("")}</div>`;

/** @param prefix tells equal members of two lists on one page apart */
function memberHtml(
  { name, id, pointer, type, isRequired, facts, description, children }: Member,
  targets: LinkTargets,
  prefix: string,
): string {
  const anchor = escapeHtml(prefix + id);
  const needed = isRequired ? '<span class="chip must">required</span>' : "";
  const bounds =
    facts.length === 0 ? "" : `<p class="bounds">${facts.map((fact) => renderInline(fact, targets)).join(" · ")}</p>`;
  // A clause that the description names is linked there.
  const clauses = targets.clausesAt(pointer).filter((clause) => !description.includes(clause));
  const about = clauses.length === 0 ? "" : `<p class="bounds">Clauses: ${targets.linkClauses(clauses.join(", "))}</p>`;
  const body = `${bounds}<p>${renderInline(description.replaceAll(/\s*\n\s*/g, " "), targets)}</p>${about}`;
  const head = `<p class="member-head"><a class="member-name" href="#${anchor}"><code>${escapeHtml(name)}</code></a> <span class="type">${escapeHtml(type)}</span> ${needed}</p>`;
  const inner =
    children.length === 0
      ? ""
      : `<details><summary>Members of <code>${escapeHtml(name)}</code></summary>${membersHtml(children, targets, prefix)}</details>`;
  return `<div class="member" id="${anchor}">${head}${body}${inner}</div>`;
}

/** Shows members as a nested list of Markdown. */
export const membersMarkdown = (members: readonly Member[], indent = ""): string =>
  members
    .map(({ name, type, isRequired, facts, description, children }) => {
      const about = [type, ...(isRequired ? ["required"] : []), ...facts].join("; ");
      const line = `${indent}- \`${name}\` (${about}): ${description.replaceAll(/\s*\n\s*/g, " ")}`;
      const inner = membersMarkdown(children, `${indent}  `);
      return inner === "" ? line : `${line}\n${inner}`;
    })
    .join("\n");
