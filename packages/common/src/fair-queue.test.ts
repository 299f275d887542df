import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.ts";

const never = new AbortController().signal;

/** A queue whose jobs end on command, and the list of started jobs in order. */
function stage(width = 1) {
  const queue = new FairQueue(width);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  /** The first letter of a job's name is its key. */
  const run = (name: string, cost = 1, signal = never): Promise<string> =>
    queue.run({ keyId: name.charAt(0), cost }, signal, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => void ends.set(name, resolve));
      return name;
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await new Promise((resolve) => void setImmediate(resolve));
  };
  return { queue, begun, run, end };
}

test("up to `width` jobs run at a time, and the other jobs of a key wait in order", async () => {
  const { queue, begun, run, end } = stage(2);
  const all = ["a1", "a2", "a3", "a4"].map((name) => run(name));
  await end("nothing");
  expect([begun, queue.waiting]).toEqual([["a1", "a2"], 2]);
  for (const name of ["a2", "a1", "a3", "a4"]) await end(name);
  expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "a4"]);
  expect(begun).toEqual(["a1", "a2", "a3", "a4"]);
});

test("keys share by cost, not by the number of their jobs", async () => {
  const { begun, run, end } = stage();
  const all = [run("a1", 100), run("a2", 100), run("a3", 100), ...[1, 2, 3, 4, 5].map((nth) => run(`b${nth}`, 50))];
  await end("nothing");
  for (const name of ["a1", "b1", "b2", "a2", "b3", "b4", "a3", "b5"]) await end(name);
  await Promise.all(all);
  expect(begun).toEqual(["a1", "b1", "b2", "a2", "b3", "b4", "a3", "b5"]);
});

test("a waiting job is dropped when its signal aborts; a running job counts until it has ended", async () => {
  const { queue, begun, run, end } = stage();
  const gone = new AbortController();
  const left = Promise.allSettled([run("a1", 1, gone.signal), run("a2", 1, gone.signal)]);
  const other = run("b1");
  await end("nothing");
  gone.abort(new Error("left"));
  expect((await left).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect([begun, queue.waiting]).toEqual([["a1"], 1]);
  await end("a1");
  expect(begun).toEqual(["a1", "b1"]);
  await end("b1");
  expect(await other).toBe("b1");
  await expect(run("a3", 1, gone.signal)).rejects.toThrow("left");
});

test("a failed job makes room for the next one", async () => {
  const queue = new FairQueue(1);
  const fails = queue.run({ keyId: "a", cost: 1 }, never, () => Promise.reject(new Error("broken")));
  const next = queue.run({ keyId: "a", cost: 1 }, never, async () => "done");
  await expect(fails).rejects.toThrow("broken");
  expect(await next).toBe("done");
});

test("when every second job of a long waiting list is aborted, the others run in order", async () => {
  const queue = new FairQueue(1);
  const first = await queue.enter({ keyId: "a", cost: 1 }, never);
  const controllers = Array.from({ length: 20_000 }, () => new AbortController());
  const done: number[] = [];
  const jobs = controllers.map(async ({ signal }, nth) => {
    const end = await queue.enter({ keyId: "a", cost: 1 }, signal);
    done.push(nth);
    end();
  });
  for (const [nth, controller] of controllers.entries()) if (nth % 2 === 0) controller.abort(new Error("left"));
  expect(queue.waiting).toBe(10_000);
  first();
  const outcomes = await Promise.allSettled(jobs);
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(10_000);
  expect(done).toEqual(Array.from({ length: 10_000 }, (_none, nth) => 2 * nth + 1));
  expect(queue.waiting).toBe(0);
});
