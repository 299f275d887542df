import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Marked } from "marked";
import { generatorsPage } from "../pages/generators-page.ts";
import { page } from "./page.ts";
import { programGuides } from "./program-guides.ts";
import { yourAppPage } from "../pages/your-app-page.ts";

/** The guides that the server shows next to the reference. They are for integrators, not for operators or contributors. */
const guides = [
  "your-app",
  "client",
  "streaming",
  "reading-streams",
  "errors",
  "generators",
  "mock-and-collections",
  "schemathesis",
  "scripted-engine",
];

const root = join(import.meta.dirname, "../..");

/** Returns the text of a guide that is not a file in `docs/guides/`: it is generated, or it is the README of a package. */
const elsewhere: Readonly<Record<string, () => string>> = {
  generators: generatorsPage,
  "your-app": yourAppPage,
  client: () => readFileSync(join(root, "packages/client/README.md"), "utf8").split("\n## Changing it")[0] ?? "",
};

/** Returns the page of each guide and the list of guides, each with its path in the tree and its text. */
export async function guidePages(): Promise<Map<string, string>> {
  const pages = await Promise.all(
    guides.map(async (name) => {
      const text = elsewhere[name]?.() ?? (await readFile(join(root, `docs/guides/${name}.md`), "utf8"));
      const title = /^# (.+)$/m.exec(text)?.[1] ?? name;
      return { name, title, body: markdown.parse(text, { async: false }) };
    }),
  );
  const list = pages.map(({ name, title }) => `<li><a href="/docs/guides/${name}">${title}</a></li>`);
  const index = `<h1>Guides</h1>\n<ul>\n${list.join("\n")}\n</ul>\n<p><a href="/docs">Reference</a></p>`;
  return new Map([
    ["docs/site/guides/index.html", page("Guides", index)],
    ...programPages(),
    ...pages.map(({ name, title, body }) => [`docs/site/guides/${name}.html`, page(title, body + footer)] as const),
  ]);
}

const programs = programGuides();

const programPages = (): (readonly [string, string])[] =>
  [...programs].map(([name, text]) => {
    const title = /^# (.+)$/m.exec(text)?.[1] ?? name;
    return [`docs/site/guides/programs/${name}.html`, page(title, markdown.parse(text, { async: false }) + footer)];
  });

const footer = '<p><a href="/docs/guides">All guides</a> · <a href="/docs">Reference</a></p>';

/**
 * Writes the links of a page. A link to a guide leads to its page. A link to a file of the repository becomes plain text,
 * because the server does not have the file. The name of a file that the server offers becomes a link.
 */
const markdown = new Marked({
  renderer: {
    codespan({ text }) {
      return /^\/[\w.-]+\.(json|yaml|http|toml)$/.test(text) ? `<a href="${text}"><code>${text}</code></a>` : false;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const [, guide = ""] = /^([\w-]+)\.md$/.exec(href) ?? [];
      if (guides.includes(guide)) return `<a href="/docs/guides/${guide}">${text}</a>`;
      const [, program = ""] = /\/partners\/programs\/([\w-]+)$/.exec(href) ?? [];
      if (programs.has(program)) return `<a href="/docs/guides/programs/${program}">${text}</a>`;
      return /^(https?:|#)/.test(href) ? `<a href="${href}">${text}</a>` : text;
    },
  },
});
