import type { BatchItem, EvaluationPriority, PrioritizedBatchItem } from "node-llama-cpp";

/**
 * Whether a part of a sequence may share its batch. node-llama-cpp passes it along as a priority, which is used for nothing
 * else here.
 */
export const batchPriority = { shared: 5, solo: 1 } as const satisfies Record<string, EvaluationPriority>;

/**
 * The batch that llama.cpp decodes next, in the order of arrival. Floating-point sums depend on what else is in the batch,
 * and a small difference can lead to another sampled token. So a sequence whose text must be repeatable is decoded in a
 * batch of its own.
 */
export function nextBatch({ items, size }: { items: readonly BatchItem[]; size: number }): PrioritizedBatchItem[] {
  const [first] = items;
  if (first?.evaluationPriority === batchPriority.solo) return [{ item: first, processAmount: first.tokens.length }];
  const batch: PrioritizedBatchItem[] = [];
  let room = size;
  for (const item of items) {
    const processAmount = Math.min(item.tokens.length, room);
    if (item.evaluationPriority === batchPriority.solo || processAmount === 0) continue;
    batch.push({ item, processAmount });
    room -= processAmount;
  }
  return batch;
}
