import { createHash } from "node:crypto";
import { ComplexityBudget } from "@parley/json-schema-grammar/complexity-budget";
import { compileRules, leftOpen } from "@parley/json-schema-grammar";
import type { CompiledSchema, Schema } from "@parley/json-schema-grammar";
import type { CountedSchema, RequestBudget } from "./request-budget.ts";
import type { WantedSchema } from "./request-schemas.ts";

/** More than `x-ignored-params` ever shows. */
const maxAnnotations = 64;

const tooMuchTogether = "the schemas of this request take too much work together: send fewer of them";

/** Compiles a schema with the budget that the other schemas of its request have left. */
export function compileWanted(wanted: WantedSchema, budget: RequestBudget): CountedSchema;
/** @returns undefined if it takes more than `maxSteps` and the budget has more */
export function compileWanted(wanted: WantedSchema, budget: RequestBudget, maxSteps: number): CountedSchema | undefined;
export function compileWanted(
  wanted: WantedSchema,
  budget: RequestBudget,
  maxSteps = Infinity,
): CountedSchema | undefined {
  const { use } = wanted;
  const own = new ComplexityBudget(Math.min(budget.left(use), maxSteps));
  const compiled = compileWith(wanted, own);
  if (own.isSpent && maxSteps < budget.left(use)) return undefined;
  const steps = own.isSpent && budget.isShared(use) ? Infinity : own.spent;
  return { compiled: takeSteps(wanted, { compiled, steps }, budget), steps };
}

/** Takes the steps of a compiled schema from the budget of the request. If too few are left, the schema gets no grammar. */
export function takeSteps(
  wanted: WantedSchema,
  { compiled, steps }: CountedSchema,
  budget: RequestBudget,
): CompiledSchema {
  return budget.take(wanted.use, steps) ? compiled : withoutGrammar(wanted, tooMuchTogether);
}

/** Rules of different parameters have different names, since all of them stand in one grammar. */
function compileWith({ schema, use }: WantedSchema, budget: ComplexityBudget): CompiledSchema {
  const compiled =
    use === "answer"
      ? compileRules(schema, "value", budget)
      : compileRules(schema, `tool-${digestOf(schema)}`, budget, { isObject: true, isLenient: use === "lenient" });
  if ("fault" in compiled) return compiled;
  return { ...compiled, annotations: compiled.annotations.slice(0, maxAnnotations) };
}

/** The result for a schema that was not compiled. */
export function withoutGrammar({ use }: WantedSchema, reason: string): CompiledSchema {
  if (use === "lenient") return leftOpen({ isObject: true }, reason);
  return { fault: { path: "", keyword: null, reason }, kind: "too complex" };
}

const digestOf = (schema: Schema): string =>
  createHash("sha256").update(JSON.stringify(schema)).digest("hex").slice(0, 16);
