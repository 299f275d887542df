import { expect, test } from "vitest";
import type { Slot } from "./slot.ts";
import { SlotPool } from "./slot-pool.ts";

/** Slots without a model: the pool only counts them and resets them. */
function poolOf(size: number): { pool: SlotPool; wereReset: () => number } {
  let wereReset = 0;
  const reset = (): void => void (wereReset += 1);
  // The pool calls no other method.
  const slots = Array.from({ length: size }, () => ({ reset }) as unknown as Slot);
  return { pool: new SlotPool(slots), wereReset: () => wereReset };
}

const never = new AbortController().signal;
const settledOf = async (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    promise.then(() => true),
    Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => false),
  ]);

test("gives all requested slots at once or waits, first come first served", async () => {
  const { pool } = poolOf(3);
  const two = await pool.take(2, never);
  const big = pool.take(3, never);
  const small = pool.take(1, never);
  expect(await settledOf(small)).toBe(false);
  expect([pool.running, pool.waiting]).toEqual([2, 2]);
  pool.release(two);
  expect(await big).toHaveLength(3);
  expect(await settledOf(small)).toBe(false);
  pool.release(await big);
  expect(await small).toHaveLength(1);
});

test("resets a slot before the next one gets it", async () => {
  const { pool, wereReset } = poolOf(2);
  pool.release(await pool.take(2, never));
  expect([wereReset(), pool.running]).toEqual([2, 0]);
});

test("a request that stops waiting lets the others pass", async () => {
  const { pool } = poolOf(2);
  const one = await pool.take(1, never);
  const hangUp = new AbortController();
  const big = pool.take(2, hangUp.signal);
  const small = pool.take(1, never);
  hangUp.abort(new Error("gone"));
  await expect(big).rejects.toThrow("gone");
  expect(await small).toHaveLength(1);
  expect(pool.waiting).toBe(0);
  pool.release(one);
});

test("refuses a request that was aborted before, and one for more slots than there are", async () => {
  const { pool } = poolOf(1);
  await expect(pool.take(1, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  await expect(pool.take(2, never)).rejects.toThrow(RangeError);
  expect(pool.running).toBe(0);
});

test("gives the slots that a request ranks highest, and among equals those that have been free for longest", async () => {
  const { pool } = poolOf(3);
  const [a, b, c] = await pool.take(3, never);
  if (!a || !b || !c) throw new Error("there are three");
  pool.release([b]);
  pool.release([c, a]);
  expect(await pool.take(1, never, (slot) => (slot === a ? 2 : 0))).toEqual([a]);
  expect(await pool.take(2, never)).toEqual([b, c]);
  const waiting = pool.take(1, never, (slot) => (slot === c ? 1 : 0));
  pool.release([b, c]);
  expect(await waiting).toEqual([c]);
});
