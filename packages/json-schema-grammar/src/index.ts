// From schemas to grammars. Most callers need only `compileSchema`.
export { compileSchema } from "./compile-schema.ts";
export type { GrammarOptions, RefusalKind, RefusedSchema, SchemaGrammar } from "./compile-schema.ts";
export type { SchemaFault } from "./schema-fault.ts";
export type { SchemaWord } from "./dialect/schema-node.ts";

// Reports about schemas, for people.
export { explainSchema } from "./explain-schema.ts";
export type { SchemaReport } from "./explain-schema.ts";
export { nearestForm } from "./nearest-form.ts";
export { annotationKeywords, enforcedKeywords } from "./dialect/keywords.ts";

// Values of schemas.
export { satisfies } from "./validate-value.ts";
export { smallestValue } from "./smallest-value.ts";
export { MalformedSchemaError, UnenforceableKeywordError, UnsatisfiableSchemaError } from "./schema-fault.ts";

// Grammars of several schemas.
export { compileRules, leftOpen } from "./compile-schema.ts";
export type { CompileOptions, CompiledSchema, EnforcedSchema } from "./compile-schema.ts";
export { ComplexityBudget, SchemaTooComplexError, stepsOfSchema } from "./complexity-budget.ts";
export { anyObjectGrammar, completeGrammar, toolCallGrammar } from "./grammar/complete-grammar.ts";
export type { CallableTool } from "./grammar/complete-grammar.ts";
export type { Schema, SchemaObject } from "./dialect/raw-schema.ts";
