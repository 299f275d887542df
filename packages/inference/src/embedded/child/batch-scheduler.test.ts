import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { BatchScheduler } from "./batch-scheduler.ts";
import type { DecodeJob } from "./batch-scheduler.ts";

const never = new AbortController().signal;

interface Caller extends Partial<Omit<DecodeJob, "sequence">> {
  readonly name: string;
  readonly jobs: number;
  /** Milliseconds that one job takes. Jobs of a batch run at the same time. */
  readonly costMs?: number;
}

/** Lets callers request their next job repeatedly, and records the batches. */
class Run {
  readonly batches: string[][] = [];
  #now = 0;
  readonly scheduler = new BatchScheduler({ now: () => this.#now, nextCycle: () => setImmediate() });

  async ask({ name, jobs, costMs = 1, kind = "answer", isSolo = false, key = name }: Caller): Promise<void> {
    const job = { kind, isSolo, key, sequence: {} };
    for (let count = 0; count < jobs; count += 1) {
      await this.scheduler.run(job, () => this.#decode(name, costMs), never);
    }
  }

  async all(...callers: Caller[]): Promise<string[]> {
    await Promise.all(callers.map((caller) => this.ask(caller)));
    return this.batches.map((batch) => batch.join(""));
  }

  async #decode(name: string, costMs: number): Promise<void> {
    if (this.#open === undefined) {
      this.#open = [];
      this.batches.push(this.#open);
      this.#now += costMs;
    }
    this.#open.push(name);
    await setImmediate();
    this.#open = undefined;
  }
  #open: string[] | undefined;
}

const prompt = (name: string, jobs: number, members: Partial<Caller> = {}): Caller => ({
  ...members,
  name,
  jobs,
  kind: "prompt",
});

describe("batches", () => {
  test.each<[string, Caller[], string]>([
    [
      "running answers share one",
      [
        { name: "a", jobs: 2 },
        { name: "b", jobs: 3 },
      ],
      "ab ab b",
    ],
    [
      "an answer that must be repeatable has its own, in its turn",
      [
        { name: "a", jobs: 2 },
        { name: "S", jobs: 2, isSolo: true },
        { name: "b", jobs: 2 },
      ],
      "ab S ab S",
    ],
    ["a slice of a prompt has its own", [prompt("P", 2), prompt("Q", 2)], "P Q P Q"],
    ["prompts alone get all the time", [prompt("P", 3)], "P P P"],
  ])("%s", async (_title, callers, want) => {
    expect((await new Run().all(...callers)).join(" ")).toBe(want);
  });
});

describe("turns", () => {
  test("between two slices an answer gets as many tokens as fit the time of a slice", async () => {
    const run = new Run();
    expect((await run.all(prompt("P", 3, { costMs: 4 }), { name: "a", jobs: 10 })).join("")).toBe("PaaaaPaaaaPaa");
  });

  test("an answer whose tokens take longer than a slice still alternates with it", async () => {
    const run = new Run();
    expect((await run.all(prompt("P", 3), { name: "a", jobs: 3, costMs: 9 })).join("")).toBe("PaPaPa");
  });

  test("keys take turns, also if one of them has many prompts", async () => {
    const many = ["P", "Q", "R"].map((name) => prompt(name, 2, { key: "many" }));
    expect((await new Run().all(...many, prompt("o", 3))).join("")).toBe("PoQoRoPQR");
  });

  test("a key that comes later is next, and so is a later prompt of a key that is being served", async () => {
    const run = new Run();
    const first = run.ask(prompt("P", 6, { key: "long" }));
    while (run.batches.length < 2) await setImmediate();
    await run.all(prompt("o", 1), prompt("Q", 1, { key: "long" }));
    await first;
    const order = run.batches.join("");
    expect(order.indexOf("o")).toBeLessThanOrEqual(3);
    expect(order.indexOf("Q")).toBeLessThanOrEqual(order.indexOf("o") + 2);
  });

  test("prompts that must be repeatable let others take their turns, too", async () => {
    const callers = ["S", "T", "U"].map((name) => prompt(name, 2, { isSolo: true, costMs: 2 }));
    expect((await new Run().all(...callers, { name: "a", jobs: 8 })).join("")).toBe("SaaTaaUaaSaaTU");
  });
});

describe("a request that is aborted", () => {
  test("while waiting is not decoded, and lets the others pass", async () => {
    const run = new Run();
    const hangUp = new AbortController();
    const others = run.all(prompt("P", 3));
    const job = { kind: "prompt", isSolo: false, key: "gone", sequence: {} } as const;
    const dropped = run.scheduler.run(job, () => Promise.reject(new Error("must not be decoded")), hangUp.signal);
    hangUp.abort();
    expect([await dropped, await others]).toEqual([undefined, ["P", "P", "P"]]);
  });

  test("beforehand is not even queued", async () => {
    const { scheduler } = new Run();
    const job = { kind: "answer", isSolo: false, key: "gone", sequence: {} } as const;
    expect(await scheduler.run(job, async () => "decoded", AbortSignal.abort())).toBeUndefined();
  });
});

test("a failure reaches only the caller whose tokens failed", async () => {
  const run = new Run();
  const job = { kind: "prompt", isSolo: false, key: "bad", sequence: {} } as const;
  const failed = run.scheduler.run(job, () => Promise.reject(new Error("no memory")), never);
  const others = run.all(prompt("P", 2));
  await expect(failed).rejects.toThrow("no memory");
  expect(await others).toEqual(["P", "P"]);
});

test.each<[string, () => Promise<never>]>([
  ["rejects", () => Promise.reject(new Error("broken"))],
  [
    "throws at once",
    () => {
      throw new Error("broken");
    },
  ],
])("a job that %s fails alone, and the others of its batch go on", async (_title, decode) => {
  const run = new Run();
  const job = { kind: "answer", isSolo: false, key: "a", sequence: {} } as const;
  const others = run.all({ name: "a", jobs: 2 }, { name: "b", jobs: 2 });
  await expect(run.scheduler.run(job, decode, never)).rejects.toThrow("broken");
  expect(await others).toEqual(["ab", "ab"]);
});
