import type { Page } from "../page.ts";

/**
 * The page for an address below `/docs` that has no page. The server puts the nearest pages into it. Hosts of static files
 * serve `404.html`, too.
 */
export const missingPage: Page = {
  path: "/404",
  title: "This page does not exist",
  summary: "The documentation has no page at this address.",
  scripts: ["missing-page"],
  markdown: `# This page does not exist

[llms.txt](/llms.txt) lists the pages.
`,
  html: `<h1>This page does not exist</h1>
<p class="lead">The documentation has no page at this address. The link may be old, or the address misspelt.</p>
<p><button type="button" class="search-missing" hidden>Search the documentation</button></p>
<div class="nearest"></div>
<h2>All parts</h2>
<ul>
<li><a href="/docs/guides">Guides</a>: a page for each task</li>
<li><a href="/docs/reference">Reference</a>: every operation, parameter, header and schema</li>
<li><a href="/docs/clauses">Clauses</a>: the numbered sentences of the contract</li>
<li><a href="/docs/errors">Errors</a>: every error code</li>
<li><a href="/docs/try">Try it</a>: any request with your key</li>
</ul>`,
};
