import type { EngineEvent } from "@parley/inference";

type TextEvent = Extract<EngineEvent, { kind: "text" }>;

/** Joins the texts of a choice that follow each other. A reader of the whole answer does not see where it was cut. */
export function joinTexts(events: readonly EngineEvent[]): readonly EngineEvent[] {
  const joined: EngineEvent[] = [];
  let open: TextEvent | undefined;
  for (const event of events) {
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
