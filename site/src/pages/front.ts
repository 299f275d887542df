import { escapeHtml } from "../markdown/escape-html.ts";
import type { LinkTargets } from "../markdown/link-targets.ts";
import { renderMarkdown } from "../markdown/render-markdown.ts";
import type { Page } from "../page.ts";
import type { Sources } from "../sources.ts";

/** The entries of the front page: address, title, text. */
const entries: readonly (readonly [path: string, title: string, text: string])[] = [
  [
    "/docs/guides/your-app",
    "Parley in your app",
    "Base URL, key and model for applications and SDKs that you have already.",
  ],
  [
    "/docs/guides/streaming",
    "Streaming",
    "The order of the events, the end of a whole answer, and failures in mid-stream.",
  ],
  ["/docs/reference", "Reference", "Every operation, parameter, bound, header, status and error code."],
  ["/docs/clauses", "Clauses", "The numbered sentences of the contract, each with its reason and its check."],
  ["/docs/errors", "Errors", "Every code: its cause, the remedy, and whether a retry helps."],
  [
    "/docs/guides/operators-day",
    "Run it yourself",
    "First start, keys, usage, backups, upgrades, own weights and vLLM.",
  ],
];

const quickStart = `## First answer

\`\`\`sh curl
curl "$PARLEY_URL/chat/completions" \\
  -H "Authorization: Bearer $PARLEY_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "vendor/model-1", "messages": [{"role": "user", "content": "What is a reentrancy attack?"}]}'
\`\`\`

\`\`\`python Python · openai
import os
from openai import OpenAI

client = OpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])
answer = client.chat.completions.create(
    model="vendor/model-1",
    messages=[{"role": "user", "content": "What is a reentrancy attack?"}],
)
print(answer.choices[0].message.content)
\`\`\`

\`\`\`ts TypeScript · openai
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.PARLEY_URL, apiKey: process.env.PARLEY_KEY });
const answer = await client.chat.completions.create({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "What is a reentrancy attack?" }],
});
console.log(answer.choices[0]?.message.content);
\`\`\`

\`PARLEY_URL\` is the address of the service followed by \`/v1\`, and \`PARLEY_KEY\` is your key.
`;

/** Returns the front page of the portal. */
export function frontPage({ contract, clauses }: Sources, targets: LinkTargets): Page {
  const { summary, version } = contract.info;
  const lead = `Parley speaks the OpenAI chat-completions API. Its contract says exactly what a caller can rely on: ${clauses.length} numbered clauses, each with a check.`;
  const cards = entries.map(
    ([path, title, text]) => `<li><a href="${path}"><b>${escapeHtml(title)}</b>${escapeHtml(text)}</a></li>`,
  );
  return {
    path: "/docs",
    title: "Documentation",
    summary,
    markdown: `# Parley\n\n${lead}\n\n${quickStart}\n## Pages\n\n${entries.map(([path, title, text]) => `- [${title}](${path}.md): ${text}`).join("\n")}\n`,
    html: `<h1>Chat completions you can hold to their word</h1>
<p class="lead">${escapeHtml(lead)}</p>
<ul class="chips"><li>Contract ${escapeHtml(version)}</li><li><a href="/openapi.json">openapi.json</a></li><li><a href="/docs/changelog">Changelog</a></li></ul>
${renderMarkdown(quickStart, targets).html}
<h2 id="pages">Where to go</h2>
<ul class="cards">${cards.join("")}</ul>`,
    words: "quick start first request home",
  };
}
