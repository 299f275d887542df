import type { EngineEvent } from "@parley/inference";

type TextEvent = Extract<EngineEvent, { kind: "text" }>;

/**
 * Joins consecutive texts of a choice, and keeps only the last usage, because its counters are totals. In an answer that is
 * not streamed, the client cannot see where the texts were cut.
 */
export function joinTexts(events: readonly EngineEvent[]): readonly EngineEvent[] {
  const usage = events.findLast(({ kind }) => kind === "usage");
  const joined = usage ? [usage] : [];
  let open: TextEvent | undefined;
  for (const event of events) {
    if (event.kind === "usage") continue;
    if (event.kind !== "text" || event.tokens.length > 0) open = undefined;
    else if (open?.choice === event.choice) {
      open = { ...event, text: open.text + event.text };
      joined[joined.length - 1] = open;
      continue;
    } else open = event;
    joined.push(event);
  }
  return joined;
}
