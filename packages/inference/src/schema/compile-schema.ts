import { findUnenforceable } from "./check-schema.ts";
import type { SchemaFault } from "./check-schema.ts";
import { UnsatisfiableSchema } from "./compile-grammar.ts";
import type { Conjunction, Schema } from "./schema-node.ts";
import { writeRules } from "./to-gbnf.ts";
import { SchemaTooComplex } from "./complexity-budget.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

/** The GBNF rules that enforce a schema and the name of the first one, or the first reason why it cannot be enforced. */
export type CompiledSchema = { readonly rules: string; readonly start: string } | { readonly fault: SchemaFault };

/** @param prefix the prefix of every rule's name @param budget limits all schemas that share it together */
export function compileSchema(schema: Schema, prefix: string, budget: ComplexityBudget): CompiledSchema {
  return compile([schema], schema, prefix, budget);
}

/** The same for the parameters of a function: its arguments are always an object, whatever the schema allows. */
export function compileParameters(parameters: Schema, prefix: string, budget: ComplexityBudget): CompiledSchema {
  return compile([{ type: "object" }, parameters], parameters, prefix, budget);
}

function compile(conjunction: Conjunction, root: Schema, prefix: string, budget: ComplexityBudget): CompiledSchema {
  const fault = findUnenforceable(root);
  if (fault) return { fault };
  try {
    return { rules: writeRules(conjunction, root, prefix, budget), start: `${prefix}-0` };
  } catch (error) {
    if (!(error instanceof UnsatisfiableSchema || error instanceof SchemaTooComplex)) throw error;
    return { fault: { path: "", keyword: null, reason: error.message } };
  }
}
