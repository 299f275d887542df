import { describe, expect, test } from "vitest";
import { judge } from "../judge-row.ts";
import { rows, shortRows } from "../rows.ts";
import { lengthsFor } from "../run-rows.ts";
import { measureRow } from "../measure-row.ts";

// The short form of `pnpm pressure`: two seconds of each attack. Speed is not checked; only stops fail the test.

const short = { seconds: undefined, isShort: true };

test("rows have names of their own, in groups", () => {
  const names = rows.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(shortRows).toHaveLength(16);
  expect(names.filter((name) => !/^[a-z]+\/[a-z-]+$/.test(name))).toEqual([]);
});

// Memory is read from `/proc`, and every address of 127.0.0.0/8 is this machine.
describe.runIf(process.platform === "linux")("nothing stops while an attacker", { timeout: 120_000 }, () => {
  test.each(shortRows)("$name: $action", async (row) => {
    const measured = await measureRow(row, lengthsFor(row, short), true, new AbortController().signal);
    expect(judge(measured).stopped).toEqual([]);
    expect(measured.lostEntries).toBe(0);
  });
});
