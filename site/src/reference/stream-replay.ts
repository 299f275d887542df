import { runStream } from "@parley/contract/stream-machine";
import type { Inputs, Streams } from "@parley/contract/stream-words";
import { escapeHtml } from "../markdown/escape-html.ts";
import { highlight } from "../markdown/highlight.ts";

/** A whole stream of the contract. */
export interface Transcript {
  readonly summary: string;
  readonly value: string;
  readonly "x-inputs": Inputs;
}

/** A line or event of a stream, and the transitions that it takes, such as `choice/text`. */
interface Piece {
  readonly text: string;
  readonly taken: readonly string[];
}

/** Splits a stream into its events and comments, and finds the transitions that each takes. */
export function piecesOf(streams: Streams, { value, "x-inputs": inputs }: Transcript): Piece[] {
  const events = value.split("\n\n").filter((event) => event.trim() !== "");
  let before = 0;
  return events.map((text, at) => {
    const { taken, violation } = runStream(streams, inputs, `${events.slice(0, at + 1).join("\n\n")}\n\n`);
    if (violation !== undefined) throw new Error(`An example stream breaks its machine: ${violation}`);
    const piece = { text, taken: taken.slice(before) };
    before = taken.length;
    return piece;
  });
}

/** The events of all streams, each stream under its tab, with buttons that walk through them. */
export function replay(streams: Streams, transcripts: readonly Transcript[]): string {
  const panels = transcripts.map((transcript) => {
    const items = piecesOf(streams, transcript).map(
      ({ text, taken }) =>
        `<li><button type="button" class="event" data-taken="${taken.join(" ")}">${highlight(text, "sse")}</button></li>`,
    );
    return `<section data-tab="${escapeHtml(transcript.summary)}"><p class="tab-name">${escapeHtml(transcript.summary)}</p><ol class="events">${items.join("")}</ol></section>`;
  });
  const controls = ["Back", "Next", "Play"].map(
    (name) => `<button type="button" data-walk="${name.toLowerCase()}">${name}</button>`,
  );
  return `<p class="walk" hidden>${controls.join("")}<span role="status"></span></p><div class="tabs code">${panels.join("")}</div>`;
}
