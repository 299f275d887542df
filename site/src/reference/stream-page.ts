import { tabs } from "../markdown/code-block.ts";
import { escapeHtml } from "../markdown/escape-html.ts";
import type { LinkTargets } from "../markdown/link-targets.ts";
import { renderInline, tableFrame } from "../markdown/render-markdown.ts";
import type { Page } from "../page.ts";
import type { Contract, JsonObject } from "../sources.ts";
import { membersOf } from "./members.ts";
import { membersHtml, membersMarkdown } from "./show-members.ts";

/** `x-streams` of the contract, as far as the page shows it. The contract's own tests check the shape. */
interface Streams {
  readonly before: string;
  readonly machines: Readonly<Record<string, Machine>>;
}

interface Machine {
  readonly text: string;
  readonly states: Readonly<Record<string, string>>;
  readonly events: Readonly<Record<string, { readonly text: string }>>;
  readonly transitions: readonly Transition[];
}

interface Transition {
  readonly from: string;
  readonly on: string;
  readonly to: string;
  readonly if?: readonly string[];
  readonly clause: string;
}

/** The page of the stream: its machines as tables, the schema of a chunk, and whole streams. */
export function streamPage(contract: Contract, targets: LinkTargets): Page {
  // See above.
  const { before, machines } = contract["x-streams"] as unknown as Streams;
  const schemas = contract.components["schemas"] ?? {};
  const chunk = membersOf(contract, schemas["ChatCompletionChunk"] ?? {}, "");
  const failure = membersOf(contract, schemas["StreamError"] ?? {}, "error-event");
  const samples = transcriptsOf(contract);
  const intro = `With \`stream: true\`, the answer is \`text/event-stream\`: each event is one line \`data: …\`, and the last one is \`data: [DONE]\`. Only a stream that ends with \`[DONE]\` is whole. The machines below say which event may follow which; [\`/streams.json\`](/streams.json) has them for programs.`;
  const html = `<p class="crumbs"><a href="/docs/reference">Reference</a> / Stream</p>
<h1>The stream</h1>
<p class="lead">${renderInline(intro, targets)}</p>
<h2 id="before">Before the first event</h2><p>${renderInline(before, targets)}</p>
${Object.entries(machines)
  .map(([name, machine]) => machineHtml(name, machine, targets))
  .join("\n")}
<h2 id="chunk">A chunk</h2>${membersHtml(chunk, targets)}
<h2 id="error-event">The error that ends a stream</h2>${membersHtml(failure, targets)}
<h2 id="whole-streams">Whole streams</h2>${tabs(samples)}`;
  const markdown = `# The stream\n\n${intro}\n\n## Before the first event\n\n${before}\n\n${Object.entries(machines)
    .map(([name, machine]) => machineMarkdown(name, machine))
    .join("\n\n")}

## A chunk\n\n${membersMarkdown(chunk)}\n\n## The error that ends a stream\n\n${membersMarkdown(failure)}\n\n## Whole streams\n\n${samples.map(({ text, info }) => `\`\`\`${info}\n${text}\n\`\`\``).join("\n\n")}\n`;
  return {
    path: "/docs/reference/stream",
    title: "The stream",
    summary: "The order of the events of a streamed answer, the schema of a chunk, and whole streams.",
    section: "reference",
    group: "Operations",
    markdown,
    html,
    words: "SSE server-sent events chunk delta state machine DONE cancel",
  };
}

function transcriptsOf({ paths }: Contract): { text: string; info: string }[] {
  const answer = paths["/v1/chat/completions"]?.["post"] as unknown as {
    responses: { "200": { content: { "text/event-stream": JsonObject } } };
  };
  // The contract's own tests check the transcripts.
  const transcripts = answer.responses["200"].content["text/event-stream"]["x-transcripts"] as unknown as Record<
    string,
    { summary: string; value: string }
  >;
  return Object.values(transcripts).map(({ summary, value }) => ({ text: value.trim(), info: `sse ${summary}` }));
}

const titles: Readonly<Record<string, string>> = {
  stream: "The answer as a whole",
  choice: "One choice",
  call: "One tool call",
};

const guardsOf = ({ if: guards = [] }: Transition): string =>
  guards.map((guard) => guard.replaceAll("-", " ")).join(" and ");

function machineHtml(name: string, { text, states, events, transitions }: Machine, targets: LinkTargets): string {
  const rows = transitions.map(
    (one) =>
      `<tr><td><code>${one.from}</code></td><td><code>${one.on}</code></td><td><code>${one.to}</code></td><td>${guardsOf(one)}</td><td>${targets.linkClauses(one.clause)}</td></tr>`,
  );
  const heads = ["State", "Event", "Next state", "If", "Clause"].map((head) => `<th scope="col">${head}</th>`).join("");
  const facts = (entries: readonly (readonly [string, string])[]): string =>
    `<dl class="facts">${entries.map(([key, said]) => `<dt><code>${key}</code></dt><dd>${renderInline(said, targets)}</dd>`).join("")}</dl>`;
  return `<h2 id="machine-${name}">${escapeHtml(titles[name] ?? name)}</h2><p>${renderInline(text, targets)}</p>
${tableFrame(`<thead><tr>${heads}</tr></thead><tbody>${rows.join("")}</tbody>`)}
<h3 id="states-${name}">States</h3>${facts(Object.entries(states))}
<h3 id="events-${name}">Events</h3>${facts(Object.entries(events).map(([key, event]) => [key, event.text] as const))}`;
}

function machineMarkdown(name: string, { text, states, events, transitions }: Machine): string {
  const rows = transitions.map(
    (one) => `| \`${one.from}\` | \`${one.on}\` | \`${one.to}\` | ${guardsOf(one)} | ${one.clause} |`,
  );
  const items = (entries: readonly (readonly [string, string])[]): string =>
    entries.map(([key, said]) => `- \`${key}\`: ${said}`).join("\n");
  return `## ${titles[name] ?? name}\n\n${text}\n\n| State | Event | Next state | If | Clause |\n| --- | --- | --- | --- | --- |\n${rows.join("\n")}\n\n### States\n\n${items(Object.entries(states))}\n\n### Events\n\n${items(Object.entries(events).map(([key, event]) => [key, event.text] as const))}`;
}
