import type { Machine, Streams, Transition } from "@parley/contract/stream-words";
import { escapeHtml } from "../markdown/escape-html.ts";
import type { LinkTargets } from "../markdown/link-targets.ts";
import { renderInline } from "../markdown/render-markdown.ts";
import { tableHtml } from "../markdown/table.ts";

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
  const rows = transitions.map((one) => [
    `<code>${one.from}</code>`,
    `<code>${one.on}</code>`,
    `<code>${one.to}</code>`,
    guardsOf(one),
    targets.linkClauses(one.clause),
  ]);
  const attributes = transitions.map(({ id, to }) => ` data-transition="${name}/${id}" data-to="${to}"`);
  const table = tableHtml(["State", "Event", "Next state", "If", "Clause"], rows, {
    attributesOf: (_, at) => attributes[at] ?? "",
  });
  const title = machineTitles[name] ?? name;
  const facts = (entries: readonly (readonly [string, string])[]): string =>
    `<dl class="facts">${entries.map(([key, said]) => `<dt><code>${key}</code></dt><dd>${renderInline(said, targets)}</dd>`).join("")}</dl>`;
  const about = text === `${title}.` ? "" : `<p>${renderInline(text, targets)}</p>`;
  return `<h2 id="machine-${name}">${escapeHtml(title)}</h2>${about}
${table}
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
