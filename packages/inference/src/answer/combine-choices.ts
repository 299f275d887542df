import type { EngineEvent, EngineUsage, FinishReason } from "../engine.ts";
import type { AnswerDelta } from "./answer-parser.ts";
import { mergeChoices } from "./merge-choices.ts";
import { sumUsage } from "./sum-usage.ts";

export interface Finish {
  readonly kind: "finish";
  readonly reason: FinishReason;
}

/** The next delta of one choice, or its end. */
export interface ChoiceDelta {
  readonly delta: AnswerDelta | Finish;
  /** The counters of this choice alone. */
  readonly counted: EngineUsage;
}

/**
 * The events of one request, from the deltas of its choices. The role of a choice is sent together with its first delta: a
 * client that has received a role knows that the model is generating.
 * @param leave called when the reader leaves the loop, before the choices are awaited; makes a choice that still waits end soon
 */
export async function* combineChoices(
  choices: readonly AsyncGenerator<readonly ChoiceDelta[]>[],
  leave?: () => void,
): AsyncGenerator<readonly EngineEvent[]> {
  const toEvents = eventMaker(choices.length);
  for await (const [choice, deltas] of mergeChoices(choices, leave)) yield toEvents(choice, deltas);
}

/** @returns the events of a request, given the next deltas of one of its choices: the usage after all of them comes first */
export function eventMaker(n: number): (choice: number, deltas: readonly ChoiceDelta[]) => readonly EngineEvent[] {
  const usageOf = sumUsage(n);
  const begun = new Set<number>();
  return (choice, deltas) => {
    const last = deltas.at(-1);
    if (!last) return [];
    const events: EngineEvent[] = [{ kind: "usage", usage: usageOf(choice, last.counted) }];
    if (!begun.has(choice)) events.push({ kind: "role", choice });
    begun.add(choice);
    for (const { delta } of deltas) events.push({ ...delta, choice });
    return events;
  };
}
