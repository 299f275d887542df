import type { SchemaFault } from "../src/schema-fault.ts";
import { compileSchema } from "../src/compile-schema.ts";
import { ComplexityBudget } from "../src/complexity-budget.ts";
import type { Schema } from "../src/dialect/raw-schema.ts";
import { answerGrammar } from "../src/grammar/complete-grammar.ts";

/** Returns the grammar of answers that satisfy the schema, or the reason why the schema is refused. */
export function grammarOf(schema: Schema): { readonly grammar: string } | { readonly fault: SchemaFault } {
  const compiled = compileSchema(schema, "value", new ComplexityBudget());
  return "fault" in compiled ? compiled : { grammar: answerGrammar(compiled.rules) };
}
