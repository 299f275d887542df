import { expect, test } from "vitest";
import { watchEnd } from "./watch-end.ts";

interface Seen {
  readonly ends: unknown[];
  readonly closed: string[];
}

function watch(values: number, { fails = false, mapFails = false } = {}): { all: AsyncGenerator<string>; seen: Seen } {
  const seen: Seen = { ends: [], closed: [] };
  async function* source(): AsyncGenerator<number> {
    try {
      for (let value = 0; value < values; value += 1) yield value;
      if (fails) throw new Error("the source has failed");
    } finally {
      seen.closed.push("source");
    }
  }
  const all = watchEnd(() => ({
    source: source(),
    map: (value) => {
      if (mapFails) throw new Error("the map has failed");
      return `#${value}`;
    },
    onEnd: (isWhole, failure) => void seen.ends.push([isWhole, failure instanceof Error ? failure.message : failure]),
    explain: async (failure) => new Error("explained", { cause: failure }),
  }));
  return { all, seen };
}

test("passes on every value, then tells the end once", async () => {
  const { all, seen } = watch(3);
  expect(await Array.fromAsync(all)).toEqual(["#0", "#1", "#2"]);
  expect(await all.next()).toEqual({ done: true, value: undefined });
  expect(seen).toEqual({ ends: [[true, undefined]], closed: ["source"] });
});

test.each([
  ["source", { fails: true }, ["#0"]],
  ["map", { mapFails: true }, []],
])("a failure of the %s is told and explained", async (name, options, before) => {
  const { all, seen } = watch(1, options);
  const passed: string[] = [];
  const reading = (async () => {
    for await (const value of all) passed.push(value);
  })();
  await expect(reading).rejects.toThrow("explained");
  expect(passed).toEqual(before);
  expect(seen.ends).toEqual([[false, `the ${name} has failed`]]);
});

test("leaving the loop closes the source first", async () => {
  const { all, seen } = watch(3);
  for await (const value of all) if (value === "#1") break;
  expect(seen).toEqual({ ends: [[false, undefined]], closed: ["source"] });
});

test("what was never asked for never begins", async () => {
  const { all, seen } = watch(3);
  await all.return(undefined);
  expect(await all.next()).toEqual({ done: true, value: undefined });
  expect(seen).toEqual({ ends: [], closed: [] });
});

test("what its beginning throws is thrown as it is, once", async () => {
  const all = watchEnd<number, number>(() => {
    throw new Error("not ready");
  });
  await expect(all.next()).rejects.toThrow("not ready");
  expect(await all.next()).toEqual({ done: true, value: undefined });
});
