import { expect, test } from "vitest";
import { FailedAfterError, transform } from "./transform.ts";
import type { Transformer } from "./transform.ts";

interface Seen {
  readonly ends: unknown[];
  readonly closed: string[];
}

interface Options extends Partial<Transformer<number, string>> {
  readonly fails?: boolean;
  readonly transformFails?: boolean;
}

const messageOf = (failure: unknown): string | undefined => (failure instanceof Error ? failure.message : undefined);

function watch(values: number, options: Options = {}): { all: AsyncGenerator<string>; seen: Seen } {
  const { fails = false, transformFails = false, ...more } = options;
  const seen: Seen = { ends: [], closed: [] };
  async function* source(): AsyncGenerator<number> {
    try {
      for (let value = 0; value < values; value += 1) yield value;
      if (fails) throw new Error("the source has failed");
    } finally {
      seen.closed.push("source");
    }
  }
  const all = transform(() => ({
    source: source(),
    transform: (value) => {
      if (transformFails) throw new Error("the transform has failed");
      return `#${value}`;
    },
    onEnd: (isWhole, failure) => void seen.ends.push([isWhole, messageOf(failure)]),
    explain: async (failure) => new Error("explained", { cause: failure }),
    ...more,
  }));
  return { all, seen };
}

async function readAll<T>(values: AsyncIterable<T>): Promise<{ passed: T[]; failure: unknown }> {
  const passed: T[] = [];
  try {
    for await (const value of values) passed.push(value);
  } catch (error) {
    return { passed, failure: messageOf(error) };
  }
  return { passed, failure: undefined };
}

test("passes on every value, then reports the end once", async () => {
  const { all, seen } = watch(3);
  expect(await Array.fromAsync(all)).toEqual(["#0", "#1", "#2"]);
  expect(await all.next()).toEqual({ done: true, value: undefined });
  expect(seen).toEqual({ ends: [[true, undefined]], closed: ["source"] });
});

test.each([
  ["source", { fails: true }, ["#0"]],
  ["transform", { transformFails: true }, []],
])("a failure of the %s is told and explained, and the source is closed", async (name, options, before) => {
  const { all, seen } = watch(1, options);
  expect(await readAll(all)).toEqual({ passed: before, failure: "explained" });
  expect(seen).toEqual({ ends: [[false, `the ${name} has failed`]], closed: ["source"] });
});

test("leaving the loop closes the source first", async () => {
  const { all, seen } = watch(3);
  for await (const value of all) if (value === "#1") break;
  expect(seen).toEqual({ ends: [[false, undefined]], closed: ["source"] });
});

test("the source is not opened before the first value is asked for", async () => {
  const { all, seen } = watch(3);
  await all.return(undefined);
  expect(await all.next()).toEqual({ done: true, value: undefined });
  expect(seen).toEqual({ ends: [], closed: [] });
});

test("an error while the source is opened is thrown unchanged, once", async () => {
  const all = transform<number, number>(() => {
    throw new Error("not ready");
  });
  await expect(all.next()).rejects.toThrow("not ready");
  expect(await all.next()).toEqual({ done: true, value: undefined });
});

test("leaving while the source is being opened waits for it, and closes it", async () => {
  const opened = Promise.withResolvers<Transformer<number, number>>();
  let isClosed = false;
  const all = transform(() => opened.promise);
  const first = all.next();
  const left = all.return(undefined);
  opened.resolve({
    source: { next: () => new Promise(() => undefined), return: async () => ({ done: (isClosed = true), value: 0 }) },
    transform: (value) => value,
  });
  await left;
  expect(isClosed).toBe(true);
  void first;
});

test("a value that is transformed to undefined is skipped", async () => {
  const { all } = watch(4, { transform: (value) => (value % 2 === 0 ? undefined : `#${value}`) });
  expect(await Array.fromAsync(all)).toEqual(["#1", "#3"]);
});

test("a last value can be made at the end", async () => {
  const { all, seen } = watch(1, { flush: async () => "last" });
  expect(await Array.fromAsync(all)).toEqual(["#0", "last"]);
  expect(seen.ends).toEqual([[true, undefined]]);
});

test("after `isDone` no more is read, and the source is closed before the last value is made", async () => {
  let read = 0;
  const { all, seen } = watch(9, {
    transform: (value) => `#${(read = value)}`,
    isDone: () => read === 1,
    flush: () => `closed: ${seen.closed.length}`,
  });
  expect(await Array.fromAsync(all)).toEqual(["#0", "#1", "closed: 1"]);
  expect(seen.ends).toEqual([[true, undefined]]);
});

test("a value that was made before a failure is passed on first", async () => {
  const { all, seen } = watch(2, {
    transform: () => {
      throw new FailedAfterError("half", new Error("the rest has failed"));
    },
  });
  expect(await readAll(all)).toEqual({ passed: ["half"], failure: "explained" });
  expect(seen).toEqual({ ends: [[false, "the rest has failed"]], closed: ["source"] });
});

test("a failure before anything was made is thrown at once", async () => {
  const { all } = watch(2, {
    transform: () => {
      throw new FailedAfterError(undefined, new Error("all has failed"));
    },
  });
  expect(await readAll(all)).toEqual({ passed: [], failure: "explained" });
});

/** Two more transforms that read the first one. */
function row(first: AsyncGenerator<string>, ends: unknown[]): AsyncGenerator<string> {
  const named = (source: AsyncGenerator<string>, name: string): AsyncGenerator<string> =>
    transform(() => ({
      source,
      transform: (value) => `${name}(${value})`,
      onEnd: (isWhole, failure) => void ends.push([name, isWhole, messageOf(failure)]),
      explain: (failure) => new Error(`${name}: ${messageOf(failure) ?? "nothing"}`),
    }));
  return named(named(first, "a"), "b");
}

test("in a chain, values and the end pass through all of them", async () => {
  const ends: unknown[] = [];
  const { all, seen } = watch(2, { flush: () => "last" });
  expect(await Array.fromAsync(row(all, ends))).toEqual(["b(a(#0))", "b(a(#1))", "b(a(last))"]);
  expect([...seen.ends, ...ends]).toEqual([
    [true, undefined],
    ["a", true, undefined],
    ["b", true, undefined],
  ]);
});

test("in a chain, each one explains a failure to the next", async () => {
  const ends: unknown[] = [];
  const { all } = watch(1, { fails: true });
  expect(await readAll(row(all, ends))).toEqual({ passed: ["b(a(#0))"], failure: "b: a: explained" });
  expect(ends).toEqual([
    ["a", false, "explained"],
    ["b", false, "a: explained"],
  ]);
});

test("in a chain, leaving the last one closes the source of the first", async () => {
  const ends: unknown[] = [];
  const { all, seen } = watch(3);
  for await (const _ of row(all, ends)) break;
  expect(seen).toEqual({ ends: [[false, undefined]], closed: ["source"] });
  expect(ends).toEqual([
    ["a", false, undefined],
    ["b", false, undefined],
  ]);
});

test("in a chain, skipped values and a failed opening are passed through", async () => {
  const { all } = watch(3, { transform: (value) => (value === 1 ? undefined : `#${value}`) });
  expect(await Array.fromAsync(row(all, []))).toEqual(["b(a(#0))", "b(a(#2))"]);
  const failing = transform<string, string>(async () => {
    throw new Error("not ready");
  });
  expect(await readAll(row(failing, []))).toEqual({ passed: [], failure: "b: a: not ready" });
});
