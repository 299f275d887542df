import { setImmediate } from "node:timers/promises";
import { ComplexityBudget, compileRules } from "../src/index.ts";
import type { Schema } from "../src/index.ts";
import { readCase } from "./read-case.ts";
import { quantile, table } from "./report.ts";

/** Every twelfth schema is compiled as a warm-up before anything is measured, which gives V8 the time to optimise the compiler. */
const warmUp = 12;

/** With fewer steps, the resolution of the clock dominates the ratio of time to steps. */
const minSteps = 30_000;

interface Compiled {
  readonly isAccepted: boolean;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly steps: number;
}

/** Compiles every schema once in this process. @returns the times as Markdown */
export async function measureCompiling(paths: readonly string[], stop: AbortSignal): Promise<string> {
  const schemas = paths.map((path) => readCase(path).schema);
  for (const [index, schema] of schemas.entries()) if (index % warmUp === 0) countSteps(schema);
  const all: Compiled[] = [];
  for (const schema of schemas) {
    await setImmediate();
    if (stop.aborted) break;
    const cpu = process.threadCpuUsage();
    const start = performance.now();
    const counted = countSteps(schema);
    const wallMs = performance.now() - start;
    const { user, system } = process.threadCpuUsage(cpu);
    all.push({ ...counted, wallMs, cpuMs: (user + system) / 1000 });
  }
  const accepted = all.filter(({ isAccepted }) => isAccepted);
  const row = (name: string, some: readonly Compiled[], msOf: (one: Compiled) => number): (string | number)[] => {
    const times = some.map(msOf);
    const sum = times.reduce((total, ms) => total + ms, 0);
    return [
      name,
      some.length,
      ...[0.5, 0.9, 0.99, 1].map((share) => quantile(times, share).toFixed(2)),
      sum.toFixed(0),
    ];
  };
  const ratios = all.filter(({ steps }) => steps >= minSteps).map(({ cpuMs, steps }) => (1000 * cpuMs) / steps);
  return [
    table(
      ["compiled", "schemas", "p50, ms", "p90", "p99", "max", "sum"],
      [
        row("accepted, by the clock", accepted, ({ wallMs }) => wallMs),
        row("accepted, CPU time of the thread", accepted, ({ cpuMs }) => cpuMs),
        row("all, by the clock", all, ({ wallMs }) => wallMs),
        row("all, CPU time of the thread", all, ({ cpuMs }) => cpuMs),
      ],
    ),
    table(
      [`schemas of at least ${minSteps} steps`, "µs of CPU time per step, p5", "p50", "p95"],
      [[ratios.length, ...[0.05, 0.5, 0.95].map((share) => quantile(ratios, share).toFixed(2))]],
    ),
  ].join("\n\n");
}

/** Compiles a schema and returns the number of budget steps used. */
function countSteps(schema: Schema): Pick<Compiled, "isAccepted" | "steps"> {
  const budget = new ComplexityBudget();
  const compiled = compileRules(schema, "value", budget);
  return { isAccepted: "rules" in compiled, steps: budget.spent };
}
