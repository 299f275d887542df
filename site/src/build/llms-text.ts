import { sectionTitles } from "../layout/navigation.ts";
import { sections } from "../page.ts";
import type { Page } from "../page.ts";

/** Returns `/llms.txt`: what this service is, and a list of the pages as Markdown, for programs that read them. */
export function llmsText(pages: readonly Page[]): string {
  const parts = sections.map((section) => {
    const members = pages.filter((page) => page.section === section && !isSingleClause(page));
    const lines = members.map(({ path, title, summary }) => `- [${title}](${path}.md): ${summary}`);
    return `## ${sectionTitles[section][0]}\n\n${lines.join("\n")}`;
  });
  return `# Parley

> A chat-completion service with the OpenAI chat-completions API and a written contract.

Every page of /docs is also Markdown: add \`.md\` to its address, or ask with \`Accept: text/markdown\`. The contract is
/openapi.json. The page of a clause is /docs/clauses/ID.md, such as [STRM-04](/docs/clauses/STRM-04.md). The page of an error is
/docs/errors/CODE.md.

${parts.join("\n\n")}
`;
}

/** [The list of clauses](/docs/clauses.md) names every clause. */
const isSingleClause = ({ path }: Page): boolean => path.startsWith("/docs/clauses/");
