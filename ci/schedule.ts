import { hasPassed, skipped } from "./outcome.ts";
import type { Finished, Outcome } from "./outcome.ts";
import type { Step } from "./step.ts";

export interface Watcher {
  onStart(step: Step): void;
  onEnd(step: Step, outcome: Finished): void;
}

/** Runs one step, on this host or in a container. @throws only if the runner itself is broken */
export type RunStep = (step: Step) => Promise<Outcome>;

/**
 * Runs steps in the order of the table, as many at a time as the processors allow. A step that wants more processors than
 * there are runs alone. Needs that are not among the given steps count as met.
 */
export async function schedule(
  steps: readonly Step[],
  cores: number,
  run: RunStep,
  watcher: Watcher,
): Promise<ReadonlyMap<Step, Finished>> {
  const outcomes = new Map<Step, Finished>();
  const running = new Map<Step, Promise<void>>();
  const waiting = new Set(steps);
  const finish = (step: Step, outcome: Outcome, startedMs = Date.now()): void => {
    const finished = { ...outcome, seconds: (Date.now() - startedMs) / 1000 };
    outcomes.set(step, finished);
    running.delete(step);
    watcher.onEnd(step, finished);
  };
  while (waiting.size > 0 || running.size > 0) {
    for (const step of waiting) {
      const needs = steps.filter(({ name }) => step.needs.includes(name));
      const unmet = needs.find((need) => isOver(need, outcomes) === "not passed");
      if (unmet) finish(step, skipped(`it needs ${unmet.name}, which did not pass`));
      else if (needs.some((need) => !outcomes.has(need)) || !hasRoom(step, [...running.keys()], cores)) continue;
      else {
        watcher.onStart(step);
        const startedMs = Date.now();
        const ended = run(step).then((outcome) => finish(step, outcome, startedMs));
        running.set(step, ended);
      }
      waiting.delete(step);
    }
    if (running.size > 0) await Promise.race(running.values());
  }
  return outcomes;
}

function isOver(step: Step, outcomes: ReadonlyMap<Step, Finished>): "not yet" | "passed" | "not passed" {
  const outcome = outcomes.get(step);
  if (!outcome) return "not yet";
  return hasPassed(outcome) ? "passed" : "not passed";
}

const hasRoom = (step: Step, running: readonly Step[], cores: number): boolean =>
  running.length === 0 || running.reduce((sum, one) => sum + one.cores, step.cores) <= cores;
