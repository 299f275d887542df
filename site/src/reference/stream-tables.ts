import type { Machine, Streams, Transition } from "@parley/contract/stream-words";
import { escapeHtml } from "../markdown/escape-html.ts";
import type { LinkTargets } from "../markdown/link-targets.ts";
import { renderInline, tableFrame } from "../markdown/render-markdown.ts";

/** The machines of the stream with their texts. The types of the stream machine have only what it runs. */
export type ExplainedStreams = Streams & {
  readonly before: string;
  readonly machines: Readonly<Record<string, ExplainedMachine>>;
};

type ExplainedMachine = Machine & {
  readonly text: string;
  readonly events: Readonly<Record<string, { readonly text: string }>>;
};

export const machineTitles: Readonly<Record<string, string>> = {
  stream: "The answer as a whole",
  choice: "One choice",
  call: "One tool call",
};

const guardsOf = ({ if: guards = [] }: Transition): string =>
  guards.map((guard) => guard.replaceAll("-", " ")).join(" and ");

/** The transitions, states and events of a machine as tables. */
export function machineHtml(
  name: string,
  { text, states, events, transitions }: ExplainedMachine,
  targets: LinkTargets,
): string {
  const rows = transitions.map(
    (one) =>
      `<tr data-transition="${name}/${one.id}" data-to="${one.to}"><td><code>${one.from}</code></td><td><code>${one.on}</code></td><td><code>${one.to}</code></td><td>${guardsOf(one)}</td><td>${targets.linkClauses(one.clause)}</td></tr>`,
  );
  const heads = ["State", "Event", "Next state", "If", "Clause"].map((head) => `<th scope="col">${head}</th>`).join("");
  const facts = (entries: readonly (readonly [string, string])[]): string =>
    `<dl class="facts">${entries.map(([key, said]) => `<dt><code>${key}</code></dt><dd>${renderInline(said, targets)}</dd>`).join("")}</dl>`;
  return `<h2 id="machine-${name}">${escapeHtml(machineTitles[name] ?? name)}</h2><p>${renderInline(text, targets)}</p>
${tableFrame(`<thead><tr>${heads}</tr></thead><tbody>${rows.join("")}</tbody>`)}
<h3 id="states-${name}">States</h3>${facts(Object.entries(states))}
<h3 id="events-${name}">Events</h3>${facts(Object.entries(events).map(([key, event]) => [key, event.text] as const))}`;
}

export function machineMarkdown(name: string, { text, states, events, transitions }: ExplainedMachine): string {
  const rows = transitions.map(
    (one) => `| \`${one.from}\` | \`${one.on}\` | \`${one.to}\` | ${guardsOf(one)} | ${one.clause} |`,
  );
  const items = (entries: readonly (readonly [string, string])[]): string =>
    entries.map(([key, said]) => `- \`${key}\`: ${said}`).join("\n");
  return `## ${machineTitles[name] ?? name}\n\n${text}\n\n| State | Event | Next state | If | Clause |\n| --- | --- | --- | --- | --- |\n${rows.join("\n")}\n\n### States\n\n${items(Object.entries(states))}\n\n### Events\n\n${items(Object.entries(events).map(([key, event]) => [key, event.text] as const))}`;
}
