import { describe, expect, test } from "vitest";
import { ApiError } from "../errors/api-error.ts";
import { ModelQueue } from "./model-queue.ts";

const never = new AbortController().signal;
const queue = (slots = 2, maxWaiting = 2, maxWaitMs = 5000, spareSlots = 0) =>
  new ModelQueue(
    () => ({ maxWaiting, maxWaitMs }),
    () => ({ slots, spareSlots }),
  );

/** Returns functions that enter requests, and the names of those admitted so far, in order. */
function arrivals(of: ModelQueue) {
  const admitted: string[] = [];
  const enter = async (name: string, choices = 1, signal = never, keyId = "key", completionTokens = 10) => {
    const weight = keyId === "heavy" ? 3 : 1;
    const slots = await of.enter({ keyId, weight, choices, promptTokens: 0, completionTokens }, signal);
    admitted.push(name);
    const count = (tokens: number): void => slots.count(tokens);
    const end = (): void => slots.commit({ usage: { completionTokens } });
    return Object.assign(end, { count, endChoice: () => slots.endChoice() });
  };
  return { admitted, enter };
}

/** Resolves when every promise that can settle without a timer or I/O has settled. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a queue", () => {
  test("is first come, first served, and a small request does not pass a large one", async () => {
    const one = queue();
    const { admitted, enter } = arrivals(one);
    const first = await enter("first");
    const large = enter("large", 2);
    const small = enter("small");
    await settled();
    expect(admitted).toEqual(["first"]);
    expect(one).toMatchObject({ taken: 1, waiting: 2 });
    first();
    (await large)();
    (await small)();
    expect(admitted).toEqual(["first", "large", "small"]);
    expect(one).toMatchObject({ taken: 0, waiting: 0 });
  });

  test("admits a request with more choices than slots when all slots are free", async () => {
    const one = queue(2);
    const { admitted, enter } = arrivals(one);
    const first = await enter("first");
    const large = enter("large", 8);
    await settled();
    expect(admitted).toEqual(["first"]);
    first();
    const release = await large;
    expect(one.taken).toBe(2);
    release();
    expect(one.taken).toBe(0);
  });

  test("frees the slot of an ended choice, unless another choice of the same request needs it", async () => {
    const one = queue(2);
    const { admitted, enter } = arrivals(one);
    const large = await enter("large", 3);
    const small = enter("small");
    large.endChoice();
    await settled();
    expect(admitted).toEqual(["large"]); // its third choice took the slot
    large.endChoice();
    (await small)();
    expect(one).toMatchObject({ taken: 1, waiting: 0 });
    large.endChoice();
    expect(one.taken).toBe(1); // until the request has ended
    large();
    expect(one.taken).toBe(0);
  });

  test("refuses at once when it is full, and after the maximum wait when it is slow", async () => {
    const one = queue(1, 1, 30);
    const { enter } = arrivals(one);
    const release = await enter("running");
    const waiting = enter("waiting");
    await expect(enter("too many")).rejects.toMatchObject({ code: "capacity_exhausted" });
    await expect(waiting).rejects.toBeInstanceOf(ApiError);
    expect(one).toMatchObject({ taken: 1, waiting: 0 });
    release();
    expect(one.taken).toBe(0);
  });

  test("lets a caller leave, and admits the requests behind it", async () => {
    const one = queue(2);
    const { admitted, enter } = arrivals(one);
    await enter("first");
    const gone = new AbortController();
    const large = enter("large", 2, gone.signal);
    const small = enter("small");
    gone.abort(new Error("left"));
    await expect(large).rejects.toThrow("left");
    await small;
    expect(admitted).toEqual(["first", "small"]);
    await expect(enter("late", 1, gone.signal)).rejects.toThrow("left");
  });
});

describe("several keys in a queue", () => {
  test("take turns, however many requests one of them has", async () => {
    const one = queue(1, 10);
    const { admitted, enter } = arrivals(one);
    const running = await enter("a0", 1, never, "a");
    const others = ["a1", "a2", "a3", "b1", "b2"].map((name) => enter(name, 1, never, name.charAt(0)));
    await settled();
    running();
    for (const other of others.map(async (entered) => (await entered)())) await other;
    expect(admitted).toEqual(["a0", "b1", "a1", "b2", "a2", "a3"]);
  });

  test("share by tokens: a long answer counts as much as several short ones", async () => {
    const one = queue(1, 10);
    const { admitted, enter } = arrivals(one);
    const running = await enter("first", 1, never, "c");
    const long = ["L1", "L2"].map((name) => enter(name, 1, never, "long", 30));
    const short = ["s1", "s2", "s3", "s4"].map((name) => enter(name, 1, never, "short", 10));
    await settled();
    running();
    await Promise.all([...long, ...short].map(async (entered) => (await entered)()));
    expect(admitted).toEqual(["first", "L1", "s1", "s2", "s3", "L2", "s4"]);
  });

  test("share by weight: a key of weight 3 is admitted three times for each request of a key of weight 1", async () => {
    const one = queue(1, 10);
    const { admitted, enter } = arrivals(one);
    const running = await enter("first", 1, never, "c");
    const heavy = ["H1", "H2", "H3", "H4", "H5"].map((name) => enter(name, 1, never, "heavy", 30));
    const light = ["l1", "l2"].map((name) => enter(name, 1, never, "light", 30));
    await settled();
    running();
    await Promise.all([...heavy, ...light].map(async (entered) => (await entered)()));
    expect(admitted).toEqual(["first", "H1", "l1", "H2", "H3", "H4", "l2", "H5"]);
  });

  test("are charged for a running answer that is longer than was reserved for it", async () => {
    const one = queue(2, 10);
    const { admitted, enter } = arrivals(one);
    const long = await enter("long", 1, never, "talkative", 10);
    const other = await enter("other", 1, never, "quiet", 20);
    const waiting = [enter("t2", 1, never, "talkative", 10), enter("q2", 1, never, "quiet", 10)];
    await settled();
    long.count(1000);
    other(); // the key of the long answer had reserved less, but was served more
    await settled();
    expect(admitted).toEqual(["long", "other", "q2"]);
    long();
    await Promise.all(waiting.map(async (entered) => (await entered)()));
    expect(one).toMatchObject({ taken: 0, waiting: 0 });
  });

  test("share a full queue: the key with the most requests loses its last one to another key", async () => {
    const one = queue(1, 3);
    const { admitted, enter } = arrivals(one);
    const running = await enter("a0", 1, never, "a");
    const [a1, a2, a3] = ["a1", "a2", "a3"].map((name) => enter(name, 1, never, "a"));
    const b1 = enter("b1", 1, never, "b");
    await expect(a3).rejects.toMatchObject({ code: "capacity_exhausted" });
    await expect(enter("a4", 1, never, "a")).rejects.toMatchObject({ code: "capacity_exhausted" });
    const b2 = enter("b2", 1, never, "b");
    await expect(a2).rejects.toMatchObject({ code: "capacity_exhausted" });
    await expect(enter("b3", 1, never, "b")).rejects.toMatchObject({ code: "capacity_exhausted" });
    running();
    await Promise.all([a1, b1, b2].map(async (entered) => (await entered)?.()));
    expect(admitted).toEqual(["a0", "b1", "a1", "b2"]);
    expect(one).toMatchObject({ taken: 0, waiting: 0 });
  });
});

describe("the spare slot", () => {
  test("is for a key that has none, and for one request at a time", async () => {
    const one = queue(2, 10, 5000, 1);
    const { admitted, enter } = arrivals(one);
    const running = [await enter("a1", 1, never, "a"), await enter("a2", 1, never, "a")];
    const mine = enter("a3", 1, never, "a");
    const lent = await enter("b1", 1, never, "b");
    expect(one).toMatchObject({ taken: 3, waiting: 1 });
    const others = [enter("b2", 1, never, "b"), enter("c1", 1, never, "c"), enter("d1", 2, never, "d")];
    await settled();
    expect(admitted).toEqual(["a1", "a2", "b1"]);
    lent(); // key c gets the spare slot next; key d needs two
    await settled();
    expect(admitted).toEqual(["a1", "a2", "b1", "c1"]);
    for (const release of running) release();
    await Promise.all([mine, ...others].map(async (entered) => (await entered)()));
    expect(one).toMatchObject({ taken: 0, waiting: 0 });
  });

  test("does not delay requests that wait for many slots", async () => {
    const one = queue(2, 10, 5000, 1);
    const { admitted, enter } = arrivals(one);
    const first = await enter("a1", 1, never, "a");
    const large = enter("b1", 2, never, "b");
    const lent = [await enter("c1", 1, never, "c")];
    const waiting = enter("d1", 1, never, "d");
    await settled();
    first(); // the lent slot is not one of the two that the large request needs
    lent.push(await large);
    expect(admitted).toEqual(["a1", "c1", "b1"]);
    for (const release of lent) release();
    (await waiting)();
    expect(one).toMatchObject({ taken: 0, waiting: 0 });
  });
});
