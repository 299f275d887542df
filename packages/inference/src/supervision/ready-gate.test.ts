import { expect, test } from "vitest";
import { ReadyGate } from "./ready-gate.ts";

test("lets waiting callers through when it opens, and later callers while it is open", async () => {
  const gate = new ReadyGate();
  const early = gate.wait();
  expect(gate.wasOpen).toBe(false);
  gate.open();
  await expect(Promise.all([early, gate.wait()])).resolves.toBeDefined();
  expect(gate.wasOpen).toBe(true);
});

test("after a crash, callers wait until it opens again", async () => {
  const gate = new ReadyGate();
  gate.open();
  gate.shut();
  let isThrough = false;
  const waiting = gate.wait().then(() => (isThrough = true));
  await Promise.resolve();
  expect([isThrough, gate.wasOpen]).toEqual([false, true]);
  gate.open();
  await expect(waiting).resolves.toBe(true);
});

test.each([
  ["before it was ever open", () => undefined],
  ["while it is open", (gate: ReadyGate) => gate.open()],
])("refused for good, %s", async (_title, prepare) => {
  const gate = new ReadyGate();
  const early = gate.wait();
  prepare(gate);
  gate.refuse(new Error("given up"));
  await expect(gate.wait()).rejects.toThrow("given up");
  await early.catch(() => undefined);
});
