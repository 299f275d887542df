import { expect, test } from "vitest";
import { play, until } from "@parley/server/testing";
import { useServer } from "./use-server.ts";

const choices = [0, 1, 2, 3, 4, 5, 6, 7];
const scenarios = {
  "one is left": [
    ...choices.map((choice) => ({ role: true as const, choice, tokens: 0 })),
    ...choices.slice(1).map((choice) => ({ finish: "stop" as const, choice })),
    { stall: true as const },
  ],
};
// The engine of this test has 64 slots.
const server = useServer({ scenarios, settings: { queueLength: 0 } });

test("the slot of a choice is free when the choice has ended, also while others of its request go on", async () => {
  const inUse = () => server().gauge('parley_slots_in_use{model="vendor/model-1"}');
  const streams = await Promise.all(
    Array.from({ length: 8 }, () => server().chat({ ...play("one is left"), n: 8, stream: true })),
  );
  await until(inUse, (count) => count === 8);
  expect((await server().chat({ n: 8 })).status).toBe(200);
  await Promise.all(streams.map(async (response) => response.body?.cancel()));
  await until(inUse, (count) => count === 0);
});
