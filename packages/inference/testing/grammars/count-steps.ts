import { ComplexityBudget } from "../../src/schema/complexity-budget.ts";
import { compileSchema } from "../../src/schema/compile-schema.ts";
import type { Schema } from "../../src/schema/dialect/raw-schema.ts";

/** Compiles a schema as an answer's, and counts the steps that this takes from its budget. */
export function countSteps(schema: Schema): { readonly isAccepted: boolean; readonly steps: number } {
  const budget = new ComplexityBudget();
  const compiled = compileSchema(schema, "value", budget);
  return { isAccepted: "rules" in compiled, steps: budget.spent };
}
