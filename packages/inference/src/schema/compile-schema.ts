import { findUnenforceable } from "./check-schema.ts";
import type { SchemaFault } from "./check-schema.ts";
import { UnsatisfiableSchema } from "./compile-grammar.ts";
import type { Conjunction, Schema } from "./schema-node.ts";
import { writeRules } from "./to-gbnf.ts";
import { SchemaTooComplex, ComplexityBudget } from "./complexity-budget.ts";

/** The GBNF rules that enforce a schema, or the first reason why it cannot be enforced. */
export type CompiledSchema = { readonly rules: string } | { readonly fault: SchemaFault };

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
    return { rules: writeRules(conjunction, root, prefix, budget) };
  } catch (error) {
    if (!(error instanceof UnsatisfiableSchema || error instanceof SchemaTooComplex)) throw error;
    return { fault: { path: "", keyword: null, reason: error.message } };
  }
}

/**
 * The first reason why constrained decoding cannot enforce this schema, or undefined when it can: a keyword outside the
 * contract's list, a schema that no value satisfies, or one that is too complex.
 * @param budget shared by the schemas of one request, so that it limits them together
 */
export const findSchemaFault = (schema: Schema, budget = new ComplexityBudget()): SchemaFault | undefined =>
  faultOf(compileSchema(schema, "value", budget));

/** The same for the parameters of a function, which must allow an object as the value. */
export const findParametersFault = (parameters: Schema, budget = new ComplexityBudget()): SchemaFault | undefined =>
  faultOf(compileParameters(parameters, "tool", budget));

const faultOf = (compiled: CompiledSchema): SchemaFault | undefined =>
  "fault" in compiled ? compiled.fault : undefined;
