import type { Machine, Transition } from "@parley/contract/stream-words";
import { escapeHtml } from "../markdown/escape-html.ts";

/** Draws the machines of the stream as SVG. Transitions and states have the names of the contract, so a script can light them. */

/** The place of each state: the middle of its box. */
const places: Readonly<Record<string, Readonly<Record<string, readonly [x: number, y: number]>>>> = {
  stream: { open: [90, 110], counted: [340, 110], done: [610, 60], failed: [610, 160] },
  choice: { waiting: [90, 80], open: [320, 80], finished: [610, 80] },
  call: { absent: [90, 60], begun: [320, 60] },
};

const heights: Readonly<Record<string, number>> = { stream: 218, choice: 112, call: 90 };
const width = 700;
const [boxWidth, boxHeight] = [104, 36];

/** Points that arrows pass which would cross a box otherwise, and the middle of their labels. */
const bends: Readonly<Record<string, readonly [x: number, y: number]>> = {
  "stream/open/done": [330, -6],
  "stream/open/failed": [330, 232],
};

/** Returns the drawing of a machine. */
export function drawMachine(name: string, machine: Machine, title: string): string {
  const height = heights[name] ?? 120;
  const states = Object.keys(machine.states).map((state) => drawState(name, state, state === machine.start));
  const groups = [...Map.groupBy(machine.transitions, ({ from, to }) => `${from}/${to}`).values()];
  const edges = groups.map((group) => drawEdge(name, group));
  return `<svg class="machine" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(title)}: ${escapeHtml(describe(machine))}">
<defs><marker id="tip-${name}" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto"><path d="M0 0.5 7 4 0 7.5z" class="tip"/></marker></defs>
${edges.join("")}${states.join("")}</svg>`;
}

/** The drawing in words, for readers who do not see it. */
const describe = ({ transitions }: Machine): string =>
  transitions.map(({ from, on, to }) => `from ${from} on ${on} to ${to}`).join("; ");

function placeOf(machine: string, state: string): readonly [x: number, y: number] {
  const place = places[machine]?.[state];
  if (!place) throw new Error(`The drawing of ${machine} has no place for ${state}.`);
  return place;
}

function drawState(machine: string, state: string, isStart: boolean): string {
  const [x, y] = placeOf(machine, state);
  const box = `<rect x="${x - boxWidth / 2}" y="${y - boxHeight / 2}" width="${boxWidth}" height="${boxHeight}" rx="6"/>`;
  return `<g class="state${isStart ? " start" : ""}" data-state="${machine}/${state}">${box}<text x="${x}" y="${y + 5}">${state}</text></g>`;
}

/** Draws the arrow of all transitions between two states, with a label for each. */
function drawEdge(machine: string, group: readonly Transition[]): string {
  const [first] = group;
  if (!first) return "";
  const { path, label, anchor } = routeOf(machine, first.from, first.to);
  const ids = group.map(({ id }) => `${machine}/${id}`);
  const [x, y] = label;
  const top = y - (group.length - 1) * 15;
  const labels = group.map(
    ({ id, on }, at) =>
      `<text class="label" text-anchor="${anchor}" data-taken="${machine}/${id}" x="${x}" y="${top + at * 15}">${on}</text>`,
  );
  return `<g class="edge"><path data-taken="${ids.join(" ")}" d="${path}" marker-end="url(#tip-${machine})"/>${labels.join("")}</g>`;
}

interface Route {
  readonly path: string;
  /** The place of the lowest label. */
  readonly label: readonly [x: number, y: number];
  readonly anchor: "middle" | "start";
}

function routeOf(machine: string, from: string, to: string): Route {
  const [x, y] = placeOf(machine, from);
  const [toX, toY] = placeOf(machine, to);
  if (from === to) {
    const top = y - boxHeight / 2;
    return {
      path: `M${x - 16} ${top}C${x - 26} ${top - 30} ${x + 26} ${top - 30} ${x + 16} ${top}`,
      label: [x + 26, top - 12],
      anchor: "start",
    };
  }
  const bend = bends[`${machine}/${from}/${to}`];
  if (bend) {
    const isAbove = bend[1] < y;
    const startY = y + (isAbove ? -1 : 1) * (boxHeight / 2);
    const endY = toY + (isAbove ? -8 : 8);
    const path = `M${x + boxWidth / 2 - 8} ${startY}Q${bend[0]} ${bend[1]} ${toX - boxWidth / 2} ${endY}`;
    return { path, label: [bend[0] + 30, isAbove ? 28 : 206], anchor: "middle" };
  }
  const [startX, endX] = [x + boxWidth / 2, toX - boxWidth / 2];
  const endY = toY + Math.sign(y - toY) * 8;
  return {
    path: `M${startX} ${y}L${endX} ${endY}`,
    label: [(startX + endX) / 2, (y + endY) / 2 - 8],
    anchor: "middle",
  };
}
