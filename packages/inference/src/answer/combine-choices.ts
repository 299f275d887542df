import type { EngineEvent, EngineUsage, FinishReason } from "../engine.ts";
import type { AnswerDelta } from "./answer-parser.ts";
import { mergeChoices } from "./merge-choices.ts";
import { sumUsage } from "./sum-usage.ts";

export interface Finish {
  readonly kind: "finish";
  readonly reason: FinishReason;
}

/** What one choice adds next, or its end. The counters are those of this choice alone. */
export type ChoiceDelta = (AnswerDelta | Finish) & { readonly counted: EngineUsage };

/**
 * The events of one request, from the deltas of its choices. The role of a choice is sent together with its first delta: a
 * client that has received a role knows that the model is generating.
 * @param leave called when the loop is left, before the choices are awaited: makes a choice that still waits end soon
 */
export async function* combineChoices(
  choices: readonly AsyncGenerator<readonly ChoiceDelta[]>[],
  leave?: () => void,
): AsyncGenerator<readonly EngineEvent[]> {
  const usageOf = sumUsage(choices.length);
  const begun = new Set<number>();
  for await (const [choice, deltas] of mergeChoices(choices, leave)) {
    const events: EngineEvent[] = [];
    for (const { counted, ...delta } of deltas) {
      const usage = usageOf(choice, counted);
      if (!begun.has(choice)) events.push({ kind: "role", choice, usage });
      begun.add(choice);
      events.push({ ...delta, choice, usage });
    }
    yield events;
  }
}
