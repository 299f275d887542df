import { expect, test } from "vitest";
import type { RegisteredServer, ServerRegister } from "../accounts/servers/server-register.ts";
import { SlotShares } from "./slot-shares.ts";

const model = "vendor/model-1";

/** A register of servers that send requests for the model to these engines. */
function registerOf(ownId: string, engines: Readonly<Record<string, readonly string[]>>) {
  const listeners: (() => void)[] = [];
  const register: ServerRegister & { live: readonly RegisteredServer[] } = {
    ownId,
    live: [],
    enter: async () => undefined,
    onRead: (listener) => void listeners.push(listener),
  };
  const set = (next: Readonly<Record<string, readonly string[]>>): void => {
    register.live = Object.entries(next).map(([id, own]) => ({
      id,
      name: id,
      version: "1.0.0",
      startedMs: 0,
      facts: { offers: {}, engines: own.length > 0 ? { [model]: own } : {} },
    }));
    for (const listener of listeners) listener();
  };
  const shares = new SlotShares(register);
  set(engines);
  return { shares, set };
}

const slotsOf = (ids: readonly string[], slots: number, spareSlots = 0) =>
  ids.map((id) =>
    registerOf(id, Object.fromEntries(ids.map((one) => [one, ["engine"]]))).shares.of(model, { slots, spareSlots }),
  );

test.each([
  [1, 7, [7]],
  [2, 7, [4, 3]],
  [3, 8, [3, 3, 2]],
  [3, 2, [1, 1, 1]],
  [4, 64, [16, 16, 16, 16]],
])("%i servers divide %i slots", (count, slots, wanted) => {
  const ids = Array.from({ length: count }, (_none, index) => `server-${index}`);
  expect(slotsOf(ids, slots).map((share) => share.slots)).toEqual(wanted);
});

test("a spare slot belongs to one server only", () => {
  expect(slotsOf(["a", "b", "c"], 6, 1).map(({ spareSlots }) => spareSlots)).toEqual([1, 0, 0]);
});

test("only the servers that send requests to the same engine divide its slots", () => {
  const engines = { a: ["one", "two"], b: ["two"], c: ["three"], d: [] };
  const sharesOf = (id: string) => registerOf(id, engines).shares.of(model, { slots: 8 }).slots;
  expect(["a", "b", "c", "d"].map(sharesOf)).toEqual([4, 4, 8, 8]);
});

test("the shares follow servers that come and go, and the queue is told", () => {
  const { shares, set } = registerOf("b", { b: ["engine"] });
  let changes = 0;
  shares.onChange(() => (changes += 1));
  set({ a: ["engine"], b: ["engine"], c: ["engine"] });
  expect(shares.of(model, { slots: 8 }).slots).toBe(3);
  set({ b: ["engine"], c: ["engine"] });
  expect(shares.of(model, { slots: 8 }).slots).toBe(4);
  expect(changes).toBe(2);
});

test("all slots belong to a server without a register, and to one whose register was not read yet", () => {
  expect(new SlotShares(undefined).of(model, { slots: 8, spareSlots: 1 })).toEqual({ slots: 8, spareSlots: 1 });
  expect(registerOf("a", {}).shares.of(model, { slots: 8 }).slots).toBe(8);
});
