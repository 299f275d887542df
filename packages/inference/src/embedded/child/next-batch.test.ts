import type { BatchItem, EvaluationPriority, Token } from "node-llama-cpp";
import { expect, test } from "vitest";
import { batchPriority, nextBatch } from "./next-batch.ts";

const item = (length: number, evaluationPriority: EvaluationPriority = batchPriority.shared): BatchItem => ({
  // A token is a number with a brand.
  tokens: Array.from({ length }, (_, id) => id as Token),
  logits: [],
  evaluationPriority,
});
const alone = (length: number): BatchItem => item(length, batchPriority.solo);

test.each<[string, BatchItem[], [place: number, amount: number][]]>([
  ["nothing", [], []],
  [
    "what fits, in order, the last one in part",
    [item(60), item(30), item(20), item(5)],
    [
      [0, 60],
      [1, 30],
      [2, 10],
    ],
  ],
  ["who must be alone is, when its turn has come", [alone(50), item(1)], [[0, 50]]],
  [
    "and not with others before",
    [item(1), alone(50), item(2), alone(1)],
    [
      [0, 1],
      [2, 2],
    ],
  ],
])("%s", (_title, items, want) => {
  const batch = nextBatch({ items, size: 100 });
  expect(batch.map((one) => [items.indexOf(one.item), one.processAmount])).toEqual(want);
});
