import { escapeHtml } from "../markdown/escape-html.ts";
import type { LinkTargets } from "../markdown/link-targets.ts";
import { renderMarkdown } from "../markdown/render-markdown.ts";
import type { Page } from "../page.ts";
import type { Sources } from "../sources.ts";

/** The entries of the front page: address, title, text. */
const entries: readonly (readonly [path: string, title: string, text: string])[] = [
  ["/docs/guides/quick-start", "Quick start", "A first answer with curl, our client, the OpenAI SDKs, Go or Java."],
  [
    "/docs/guides/coming-from-another-service",
    "Coming from another service",
    "The differences from OpenAI and from services that are compatible with it.",
  ],
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
  ["/docs/try", "Try it", "Any request with your key, streamed event by event, and a demo that needs neither."],
  ["/docs/playground", "Playground", "A chat with the models, with tool calls and JSON answers."],
  ["/docs/reference", "Reference", "Every operation, parameter, bound, header, status and error code."],
  ["/docs/reference/models", "Models and prices", "Limits, features and prices, with a calculator of costs."],
  ["/docs/clauses", "Clauses", "The numbered sentences of the contract, with their reasons and checks."],
  ["/docs/errors", "Errors", "Every code: its cause, the remedy, and whether a retry helps."],
  [
    "/docs/guides/implementing",
    "Implement the contract",
    "Build a service that keeps the contract, step by step, and judge it.",
  ],
  ["/docs/guides/first-run", "Run it yourself", "First start, keys, usage, backups, upgrades, own weights and vLLM."],
];

/** Returns a section of the guide "Quick start", whose samples are run by tests. */
function firstAnswer(guide = ""): string {
  const [section = ""] = /^## First answer$[^]*?(?=^\| )/m.exec(guide) ?? [];
  return `${section.replaceAll(/<!--[^]*?-->\n*/g, "")}\`PARLEY_URL\` is the address of the service followed by \`/v1\`, and \`PARLEY_KEY\` is your key.\n`;
}

/** Returns the front page of the portal. */
export function frontPage({ contract, clauses, guides }: Sources, targets: LinkTargets): Page {
  const { summary, version } = contract.info;
  const quickStart = firstAnswer(guides.get("quick-start"));
  const lead = `Parley speaks the OpenAI chat-completions API. Its contract says exactly what a caller can rely on: ${clauses.length} numbered clauses, each with a check or the reason why there can be none.`;
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
