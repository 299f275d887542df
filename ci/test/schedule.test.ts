import { expect, test } from "vitest";
import { skipped } from "../outcome.ts";
import type { Outcome } from "../outcome.ts";
import { schedule } from "../schedule.ts";
import type { Step } from "../step.ts";
import { probe } from "./probe-step.ts";

const passed: Outcome = { passed: 1, failed: 0, skipped: [] };
const failed: Outcome = { passed: 0, failed: 1, skipped: [], trouble: "it broke" };

/** Runs steps whose outcomes are given. @returns what started and ended, in order, and the outcomes by name */
async function play(
  steps: readonly Step[],
  cores: number,
  outcomeOf: (step: Step) => Outcome = () => passed,
): Promise<{ events: string[]; outcomes: Readonly<Record<string, Outcome>> }> {
  const events: string[] = [];
  const finished = await schedule(
    steps,
    cores,
    async (step) => {
      await new Promise(setImmediate);
      return outcomeOf(step);
    },
    { onStart: ({ name }) => events.push(`+${name}`), onEnd: ({ name }) => events.push(`-${name}`) },
  );
  return { events, outcomes: Object.fromEntries([...finished].map(([{ name }, outcome]) => [name, outcome])) };
}

const named = (name: string, others: Partial<Step> = {}): Step => probe("", { name, ...others });

test("steps run in parallel as far as the CPUs allow, in the order of the table", async () => {
  const { events } = await play([named("a"), named("b"), named("c")], 2);
  expect(events.slice(0, 2)).toEqual(["+a", "+b"]);
  expect(events.indexOf("+c")).toBeGreaterThan(2);
});

test("a step that wants more processors than there are runs alone", async () => {
  const { events } = await play([named("small"), named("big", { cores: 4 }), named("last")], 2);
  const at = events.indexOf("+big");
  expect(events[at + 1]).toBe("-big");
  expect(events.filter((event) => event.startsWith("-"))).toHaveLength(3);
});

test("a step waits for what it needs", async () => {
  const { events } = await play([named("a"), named("b", { needs: ["a"] })], 8);
  expect(events).toEqual(["+a", "-a", "+b", "-b"]);
});

test.each([
  ["failed", failed],
  ["was skipped", skipped("there is no docker")],
])("what needs a step that %s is skipped, and so is what needs that", async (_title, outcome) => {
  const steps = [named("a"), named("b", { needs: ["a"] }), named("c", { needs: ["b"] }), named("d")];
  const { outcomes } = await play(steps, 2, ({ name }) => (name === "a" ? outcome : passed));
  expect(outcomes["b"]?.skipped).toEqual([{ count: 1, reason: "it needs a, which did not pass" }]);
  expect(outcomes["c"]?.skipped).toEqual([{ count: 1, reason: "it needs b, which did not pass" }]);
  expect(outcomes["d"]?.passed).toBe(1);
});

test("needs that were not asked for count as met", async () => {
  const { outcomes } = await play([named("b", { needs: ["a"] })], 2);
  expect(outcomes["b"]?.passed).toBe(1);
});
