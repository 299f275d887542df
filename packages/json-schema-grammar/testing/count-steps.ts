import { ComplexityBudget } from "../src/complexity-budget.ts";
import { compileSchema } from "../src/compile-schema.ts";
import type { Schema } from "../src/dialect/raw-schema.ts";

/** Compiles the schema of an answer and returns the number of budget steps used. */
export function countSteps(schema: Schema): { readonly isAccepted: boolean; readonly steps: number } {
  const budget = new ComplexityBudget();
  const compiled = compileSchema(schema, "value", budget);
  return { isAccepted: "rules" in compiled, steps: budget.spent };
}
