import { valueAt } from "@parley/contract/document";
import { escapeHtml } from "../markdown/escape-html.ts";
import type { LinkTargets } from "../markdown/link-targets.ts";
import { renderInline } from "../markdown/render-markdown.ts";
import type { Page } from "../page.ts";
import type { Contract } from "../sources.ts";
import { membersOf } from "./members.ts";
import { membersHtml, membersMarkdown } from "./show-members.ts";
import { drawMachine } from "./stream-drawing.ts";
import { replay } from "./stream-replay.ts";
import type { Transcript } from "./stream-replay.ts";
import { machineHtml, machineMarkdown, machineTitles } from "./stream-tables.ts";
import type { ExplainedStreams } from "./stream-tables.ts";

const intro =
  "With `stream: true`, the answer is `text/event-stream`. Each event is one line `data: …`, and the last one is `data: [DONE]`. " +
  "Only a stream that ends with `[DONE]` is whole. Three machines say which event may follow which: one for the answer, one for each choice, " +
  "one for each tool call. [`/streams.json`](/streams.json) has them for programs.";

/** The page of the stream: its machines as a drawing beside whole streams and as tables, and the schema of a chunk. */
export function streamPage(contract: Contract, targets: LinkTargets): Page {
  // The contract's own tests check this shape.
  const streams = contract["x-streams"] as unknown as ExplainedStreams;
  const machines = Object.entries(streams.machines);
  const schemas = contract.components["schemas"] ?? {};
  const chunk = membersOf(contract, schemas["ChatCompletionChunk"] ?? {}, "");
  const failure = membersOf(contract, schemas["StreamError"] ?? {}, "error-event");
  const transcripts = transcriptsOf(contract);
  const drawings = machines.map(([name, machine]) => {
    const title = machineTitles[name] ?? name;
    return `<figure><figcaption>${escapeHtml(title)}</figcaption><div class="drawing" tabindex="0" role="group" aria-label="${escapeHtml(title)}">${drawMachine(name, machine, title)}</div></figure>`;
  });
  const html = `<p class="crumbs"><a href="/docs/reference">Reference</a> / Stream</p>
<h1>The stream</h1>
<p class="lead">${renderInline(intro, targets)}</p>
<h2 id="event-by-event">Event by event</h2>
<p>Choose a stream and an event. The drawing shows the transitions that the event takes, and the states after it.</p>
<div class="replay"><div class="machines">${drawings.join("")}</div>${replay(streams, transcripts)}</div>
<h2 id="before">Before the first event</h2><p>${renderInline(streams.before, targets)}</p>
${machines.map(([name, machine]) => machineHtml(name, machine, targets)).join("\n")}
<h2 id="chunk">A chunk</h2>${membersHtml(chunk, targets)}
<h2 id="error-event">The error that ends a stream</h2>${membersHtml(failure, targets)}
<h2 id="ends">How a stream may end</h2>
<dl class="facts">${Object.entries(streams.ends)
    .map(([state, said]) => `<dt><code>${state}</code></dt><dd>${renderInline(said, targets)}</dd>`)
    .join("")}</dl>`;
  const samples = transcripts.map(({ summary, value }) => `\`\`\`sse ${summary}\n${value.trim()}\n\`\`\``);
  const parts = [
    `# The stream\n\n${intro}`,
    `## Before the first event\n\n${streams.before}`,
    ...machines.map(([name, machine]) => machineMarkdown(name, machine)),
    `## A chunk\n\n${membersMarkdown(chunk)}`,
    `## The error that ends a stream\n\n${membersMarkdown(failure)}`,
    `## How a stream may end\n\n${Object.entries(streams.ends)
      .map(([state, said]) => `- \`${state}\`: ${said}`)
      .join("\n")}`,
    `## Whole streams\n\n${samples.join("\n\n")}\n`,
  ];
  return {
    path: "/docs/reference/stream",
    title: "The stream",
    summary: "The order of the events of a streamed answer, the schema of a chunk, and whole streams.",
    section: "reference",
    group: "Operations",
    markdown: parts.join("\n\n"),
    html,
    words: "SSE server-sent events chunk delta state machine DONE cancel",
    scripts: ["stream-page"],
  };
}

const transcriptsPointer = "/paths/~1v1~1chat~1completions/post/responses/200/content/text~1event-stream/x-transcripts";

// The contract's own tests check the transcripts.
const transcriptsOf = (contract: Contract): Transcript[] =>
  Object.values(valueAt(contract, transcriptsPointer) as Record<string, Transcript>);
