import type { EngineEvent, EngineUsage, FinishReason } from "../engine.ts";
import type { AnswerDelta } from "./answer-parser.ts";

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

/**
 * Merges generators into one, in the order in which they yield. Leaving the loop, or the failure of one generator, closes
 * all of them and waits until they have ended.
 * @param leave called before that wait, unless all have ended by themselves. It must make generators that still wait end soon.
 */
export async function* mergeChoices<T>(
  generators: readonly AsyncGenerator<T>[],
  leave: () => void = () => undefined,
): AsyncGenerator<readonly [index: number, value: T]> {
  const next = (
    index: number,
    generator: AsyncGenerator<T>,
  ): Promise<{ index: number; result: IteratorResult<T, void> }> =>
    generator.next().then((result) => ({ index, result }));
  const pending = new Map(generators.map((generator, index) => [index, next(index, generator)]));
  try {
    while (pending.size > 0) {
      const { index, result } = await Promise.race(pending.values());
      const generator = generators[index];
      if (result.done || !generator) {
        pending.delete(index);
        continue;
      }
      yield [index, result.value];
      pending.set(index, next(index, generator));
    }
  } finally {
    if (pending.size > 0) leave();
    await Promise.allSettled(pending.values());
    await Promise.allSettled(generators.map((generator) => generator.return(undefined)));
  }
}

/**
 * Adds up the counters of all choices of a request. The choices share one prompt, so its tokens count once.
 * @returns the usage of the request, given the latest counters of one choice
 */
function sumUsage(n: number): (choice: number, counted: EngineUsage) => EngineUsage {
  if (n === 1) return (_choice, counted) => counted;
  const nothing: EngineUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  const latest = Array.from({ length: n }, () => nothing);
  return (choice, counted) => {
    latest[choice] = counted;
    const sum = (name: keyof EngineUsage): number => latest.reduce((total, one) => total + one[name], 0);
    return {
      promptTokens: counted.promptTokens,
      cachedTokens: latest[0]?.cachedTokens ?? 0,
      completionTokens: sum("completionTokens"),
      reasoningTokens: sum("reasoningTokens"),
    };
  };
}
