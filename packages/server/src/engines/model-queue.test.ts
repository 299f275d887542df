import { describe, expect, test } from "vitest";
import { ApiError } from "../errors/api-error.ts";
import { ModelQueue } from "./model-queue.ts";

const never = new AbortController().signal;
const queue = (slots = 2, maxWaiting = 2, maxWaitMs = 5000) => new ModelQueue({ maxWaiting, maxWaitMs }, () => slots);

/** What has been admitted so far, in order. */
function arrivals(of: ModelQueue) {
  const admitted: string[] = [];
  const enter = async (name: string, slots = 1, signal = never) => {
    const release = await of.enter(slots, signal);
    admitted.push(name);
    return release;
  };
  return { admitted, enter };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

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

  test("lets more choices than there are slots in once all slots are free", async () => {
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

  test("that is full refuses at once, and one that is slow after its patience", async () => {
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

  test("lets a caller leave, and whoever stood behind go on", async () => {
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
