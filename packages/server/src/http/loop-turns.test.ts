import { setImmediate as nextRound } from "node:timers/promises";
import { expect, test } from "vitest";
import { LoopTurns, numberOf } from "./loop-turns.ts";

const never = new AbortController().signal;

/** Keeps the thread busy, as parsing does. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/**
 * Lets `count` requests arrive at once, each of which takes `takesMs`.
 * @returns the round of the event loop in which each begins
 */
async function roundsOf(count: number, takesMs: number, turns = new LoopTurns()): Promise<number[]> {
  let round = 0;
  const ended = new AbortController();
  const counting = (async () => {
    for (; !ended.signal.aborted; round += 1) await nextRound();
  })();
  const rounds: number[] = [];
  await Promise.all(
    Array.from({ length: count }, async () => {
      await turns.forBody("key", 1, never);
      rounds.push(round);
      work(takesMs);
    }),
  );
  ended.abort();
  await counting;
  return rounds;
}

test("a single request begins at once", async () => {
  expect(await roundsOf(1, 0)).toEqual([0]);
});

test("small requests begin together, large ones leave rounds between them", async () => {
  const small = await roundsOf(20, 0);
  expect(new Set(small).size).toBeLessThan(20);
  const large = await roundsOf(10, 3);
  expect(new Set(large).size).toBe(10);
});

test("nothing begins while connections keep arriving, up to a bound", async () => {
  const turns = new LoopTurns();
  const ended = new AbortController();
  const arriving = (async () => {
    for (; !ended.signal.aborted; turns.noteConnection()) await nextRound();
  })();
  const [first = 0, second = 0] = await roundsOf(2, 3, turns);
  ended.abort();
  await arriving;
  expect(second - first).toBeGreaterThan(30);
  expect(second - first).toBeLessThan(40);
});

test("keys take turns, and a request whose caller has disconnected never begins", async () => {
  const turns = new LoopTurns();
  const gone = new AbortController();
  const begun: string[] = [];
  const begin = async (keyId: string, signal = never): Promise<void> => {
    await turns.forBody(keyId, 100, signal);
    begun.push(keyId);
    work(3);
  };
  const many = Array.from({ length: 5 }, () => begin("many"));
  const left = Promise.allSettled([begin("left", gone.signal)]);
  const few = begin("few");
  gone.abort(new Error("left"));
  await Promise.all([...many, few]);
  expect((await left)[0]).toMatchObject({ status: "rejected" });
  expect(begun).toEqual(["many", "few", "many", "many", "many", "many"]);
});

test("senders are reduced to 1024 numbers, however many names a client invents", () => {
  const numbers = Array.from({ length: 100_000 }, (_, index) => numberOf(`Bearer parley_${index.toString(16)}`));
  expect(new Set(numbers).size).toBe(1024);
  expect(numberOf("Bearer parley_0")).toBe(numbers[0]);
  expect(numberOf("x".repeat(16_000))).toBe(numberOf("x".repeat(64)));
});
