import type { BatchItem, EvaluationPriority, PrioritizedBatchItem } from "node-llama-cpp";

/** How a piece of a sequence is decoded; node-llama-cpp carries it along as a priority, which nothing else here uses. */
export const decodes = { together: 5, alone: 1 } as const satisfies Record<string, EvaluationPriority>;

/**
 * What llama.cpp decodes next, first come first served. Sums of a batch are rounded differently with every company that
 * a sequence has in it, and sampling makes another text of that; a sequence whose text must be repeatable is decoded alone.
 */
export function nextBatch({ items, size }: { items: readonly BatchItem[]; size: number }): PrioritizedBatchItem[] {
  const [first] = items;
  if (first?.evaluationPriority === decodes.alone) return [{ item: first, processAmount: first.tokens.length }];
  const batch: PrioritizedBatchItem[] = [];
  let room = size;
  for (const item of items) {
    const processAmount = Math.min(item.tokens.length, room);
    if (item.evaluationPriority === decodes.alone || processAmount === 0) continue;
    batch.push({ item, processAmount });
    room -= processAmount;
  }
  return batch;
}
