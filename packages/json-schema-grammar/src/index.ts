export { compileParameters, compileSchema, leftOpen } from "./compile-schema.ts";
export type { CompileOptions, CompiledSchema, EnforcedSchema, RefusedSchema } from "./compile-schema.ts";
export { ComplexityBudget, SchemaTooComplexError, stepsOfSchema } from "./complexity-budget.ts";
export { annotationKeywords, enforcedKeywords } from "./dialect/keywords.ts";
export type { Schema, SchemaObject } from "./dialect/raw-schema.ts";
export type { SchemaWord } from "./dialect/schema-node.ts";
export { explainSchema } from "./explain-schema.ts";
export type { SchemaReport } from "./explain-schema.ts";
export { anyObjectGrammar, answerGrammar, toolCallGrammar } from "./grammar/complete-grammar.ts";
export type { CallableTool } from "./grammar/complete-grammar.ts";
export { nearestForm } from "./nearest-form.ts";
export {
  MalformedSchemaError,
  NotRegularError,
  UnenforceableKeywordError,
  UnsatisfiableSchemaError,
} from "./schema-fault.ts";
export type { SchemaFault } from "./schema-fault.ts";
export { smallestValue } from "./smallest-value.ts";
export { satisfies } from "./validate-value.ts";
