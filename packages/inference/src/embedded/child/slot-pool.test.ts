import { expect, test } from "vitest";
import type { Slot } from "./slot.ts";
import { SlotPool } from "./slot-pool.ts";

/** Slots without a model: the pool only counts them and clears them. */
function poolOf(size: number): { pool: SlotPool; cleared: () => number } {
  let cleared = 0;
  const clear = async (): Promise<void> => void (cleared += 1);
  // The pool calls no other method.
  const slots = Array.from({ length: size }, () => ({ clear }) as unknown as Slot);
  return { pool: new SlotPool(slots), cleared: () => cleared };
}

const never = new AbortController().signal;
const settledOf = async (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    promise.then(() => true),
    Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => false),
  ]);

test("gives all that is asked for or nothing yet, first come first served", async () => {
  const { pool } = poolOf(3);
  const two = await pool.take(2, never);
  const big = pool.take(3, never);
  const small = pool.take(1, never);
  expect(await settledOf(small)).toBe(false);
  expect([pool.running, pool.waiting]).toEqual([2, 2]);
  await pool.release(two);
  expect(await big).toHaveLength(3);
  expect(await settledOf(small)).toBe(false);
  await pool.release(await big);
  expect(await small).toHaveLength(1);
});

test("empties a slot before the next one gets it", async () => {
  const { pool, cleared } = poolOf(2);
  await pool.release(await pool.take(2, never));
  expect([cleared(), pool.running]).toEqual([2, 0]);
});

test("who gives up waiting lets the others pass", async () => {
  const { pool } = poolOf(2);
  const one = await pool.take(1, never);
  const hangUp = new AbortController();
  const big = pool.take(2, hangUp.signal);
  const small = pool.take(1, never);
  hangUp.abort(new Error("gone"));
  await expect(big).rejects.toThrow("gone");
  expect(await small).toHaveLength(1);
  expect(pool.waiting).toBe(0);
  await pool.release(one);
});

test("refuses who is gone already, and who asks for more than there is", async () => {
  const { pool } = poolOf(1);
  await expect(pool.take(1, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  await expect(pool.take(2, never)).rejects.toThrow(RangeError);
  expect(pool.running).toBe(0);
});
