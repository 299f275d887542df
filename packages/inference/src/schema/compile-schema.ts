import { findUnenforceable } from "./check-schema.ts";
import type { SchemaFault } from "./check-schema.ts";
import { UnsatisfiableSchema } from "./rule-book.ts";
import type { Conjunction, Schema } from "./schema-node.ts";
import { writeRules } from "./to-grammar.ts";
import { SchemaTooComplex, ComplexityBudget } from "./complexity-budget.ts";

/** The GBNF rules that hold a model to a schema, or the first reason why there are none. */
export type CompiledSchema = { readonly rules: string } | { readonly fault: SchemaFault };

/** @param prefix of the names of the rules @param budget bounds the schemas together that share it */
export function compileSchema(schema: Schema, prefix: string, budget: ComplexityBudget): CompiledSchema {
  return compile([schema], schema, prefix, budget);
}

/** The parameters of a function: whatever their schema says, the arguments of a call are an object. */
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
 * The first reason why guided decoding cannot hold a model to this schema, or undefined when it can: a keyword outside
 * the contract's list, a schema that nothing satisfies, or one that grows without bound.
 * @param budget shared between the schemas of one request it bounds them together
 */
export const findSchemaFault = (schema: Schema, budget = new ComplexityBudget()): SchemaFault | undefined =>
  faultOf(compileSchema(schema, "value", budget));

/** The same for the parameters of a function, which must allow an object. */
export const findParametersFault = (parameters: Schema, budget = new ComplexityBudget()): SchemaFault | undefined =>
  faultOf(compileParameters(parameters, "tool", budget));

const faultOf = (compiled: CompiledSchema): SchemaFault | undefined =>
  "fault" in compiled ? compiled.fault : undefined;
