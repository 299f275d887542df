import { parentPort } from "node:worker_threads";
import { parseJson } from "@parley/json-schema-grammar/json";
import { RequestBudget } from "./request-budget.ts";
import type { CountedSchema } from "./request-budget.ts";
import { compileWanted } from "./compile-wanted.ts";
import type { WantedSchema } from "./request-schemas.ts";

// The thread of `CompileThread`.

/** A schema as text, which takes less time to hand over than its objects do. */
export interface WantedText extends Omit<WantedSchema, "schema"> {
  readonly text: string;
}

/** A schema that was compiled before, and takes its steps from the budget of its request. */
export type CompiledBefore = Pick<WantedSchema, "use"> & Pick<CountedSchema, "steps">;

/** The schemas of one request in their order. */
export type CompileJob = readonly (WantedText | CompiledBefore)[];

parentPort?.on("message", (job: CompileJob) => parentPort?.postMessage(compileAll(job)));

/** Compiles the schemas of a request that the cache does not hold. The others only take their recorded steps. */
function compileAll(job: CompileJob): CountedSchema[] {
  const budget = new RequestBudget();
  return job.flatMap((one) => {
    if ("steps" in one) {
      budget.take(one.use, one.steps);
      return [];
    }
    const { text, ...rest } = one;
    // The text was made of a schema.
    const schema = parseJson(text) as WantedSchema["schema"];
    return [compileWanted({ ...rest, schema }, budget)];
  });
}
