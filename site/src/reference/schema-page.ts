import { breakable, escapeHtml } from "../markdown/escape-html.ts";
import { renderInline, renderMarkdown } from "../markdown/render-markdown.ts";
import type { Page } from "../page.ts";
import type { Clause } from "../sources.ts";
import { membersOf, typeOf } from "./members.ts";
import type { Reference } from "./operations.ts";
import { membersHtml, membersMarkdown } from "./show-members.ts";

/** A page for each schema of a document: its members, and the clauses about it. */
export function schemaPages(reference: Reference, clauses: readonly Clause[]): Page[] {
  const { document: contract, targets } = reference;
  return Object.entries(contract.components["schemas"] ?? {}).map(([name, schema]) => {
    const description = typeof schema["description"] === "string" ? schema["description"].trim() : "";
    const members = membersOf(contract, schema, "");
    const about = clauses.filter(({ pointer }) => `${pointer}/`.startsWith(`/components/schemas/${name}/`));
    const type = typeOf(contract, schema);
    const [single] = membersOf(contract, { properties: { [name]: schema } }, "");
    const facts = single?.facts ?? [];
    // A long list of values is a paragraph.
    const { short = [], long = [] } = Object.groupBy(facts, (fact) => (fact.length > 60 ? "long" : "short"));
    const list = about.map(({ id, sentence }) => `- ${id}: ${sentence}`).join("\n");
    const end = list === "" ? "" : `## Clauses\n\n${list}\n`;
    const html = `<p class="crumbs"><a href="${reference.path}">${reference.title}</a> / Schemas</p>
<h1><code>${breakable(name)}</code></h1>
<ul class="chips"><li>${escapeHtml(type)}</li>${short.map((fact) => `<li>${renderInline(fact, targets)}</li>`).join("")}</ul>
${long.map((fact) => `<p class="bounds">${renderInline(fact, targets)}</p>`).join("")}
${renderMarkdown(description, targets).html}
${members.length === 0 ? "" : `<h2 id="members">Members</h2>${membersHtml(members, targets)}`}
${renderMarkdown(end, targets).html}`;
    const markdown = `# ${name}\n\nType: ${[type, ...facts].join("; ")}.\n\n${description}\n\n${members.length === 0 ? "" : `## Members\n\n${membersMarkdown(members)}\n\n`}${end}`;
    return {
      path: `${reference.path}/schemas/${name}`,
      title: reference.section === "reference" ? name : `${name} (${reference.title})`,
      label: name,
      summary: description.replaceAll("`", "").split(". ")[0] ?? name,
      section: reference.section,
      group: "Schemas",
      markdown,
      html,
    };
  });
}
