import { SchemaTooComplexError } from "./complexity-budget.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";
import type { Schema } from "./dialect/raw-schema.ts";
import type { SchemaWord } from "./dialect/schema-node.ts";
import { assertFewParses } from "./grammar/count-parses.ts";
import { writeRules } from "./grammar/write-rules.ts";
import { MalformedSchemaError, UnenforceableKeywordError, UnsatisfiableSchemaError } from "./schema-fault.ts";
import type { SchemaFault } from "./schema-fault.ts";
import { leaveOut, toRules } from "./to-rules.ts";
import type { WantedValue } from "./to-rules.ts";

/** A schema as a grammar. */
export interface EnforcedSchema {
  /** GBNF rules. */
  readonly rules: string;
  /** The name of the rule for the whole value. */
  readonly start: string;
  /** The words in the schema that have no effect on which values are valid, in document order. */
  readonly annotations: readonly SchemaWord[];
  /**
   * The keywords that the grammar leaves out because they cannot be enforced; always empty unless it is lenient. Where the
   * whole schema is left out, one with an empty path.
   */
  readonly unenforced: readonly SchemaFault[];
}

/** The first reason why a schema has no grammar. */
export interface RefusedSchema {
  readonly fault: SchemaFault;
  /** It is not a JSON Schema, so it is refused even where it would constrain nothing. */
  readonly isMalformed: boolean;
}

export type CompiledSchema = EnforcedSchema | RefusedSchema;

export interface CompileOptions {
  /**
   * Keywords that cannot be enforced are left out and listed; so is the whole schema where it is too complex. Otherwise the
   * schema is refused.
   */
  readonly isLenient?: boolean;
}

/** @param prefix the prefix of every rule's name @param budget limits all schemas that share it together */
export function compileSchema(
  schema: Schema,
  prefix: string,
  budget: ComplexityBudget,
  options: CompileOptions = {},
): CompiledSchema {
  return compile({ schema, isObject: false }, prefix, budget, options);
}

/** The same for the parameters of a function: its arguments are always an object, whatever the schema allows. */
export function compileParameters(
  parameters: Schema,
  prefix: string,
  budget: ComplexityBudget,
  options: CompileOptions = {},
): CompiledSchema {
  return compile({ schema: parameters, isObject: true }, prefix, budget, options);
}

function compile(
  wanted: WantedValue,
  prefix: string,
  budget: ComplexityBudget,
  { isLenient = false }: CompileOptions,
): CompiledSchema {
  const write = (omitted: ReadonlySet<string>): Omit<EnforcedSchema, "unenforced"> => {
    const { rules, annotations } = toRules(wanted, budget, omitted);
    assertFewParses(rules, budget);
    return { rules: writeRules(rules, prefix, budget), start: `${prefix}-0`, annotations };
  };
  try {
    const { result, unenforced } = isLenient ? leaveOut(write) : { result: write(new Set()), unenforced: [] };
    return { ...result, unenforced };
  } catch (error) {
    if (isLenient && error instanceof SchemaTooComplexError) return leftOpen(wanted, error.message);
    return { fault: toFault(error), isMalformed: error instanceof MalformedSchemaError };
  }
}

/** Any value, or any object. @param reason why nothing of the schema is enforced */
export function leftOpen({ isObject }: Pick<WantedValue, "isObject">, reason: string): EnforcedSchema {
  const unenforced = [{ path: "", keyword: null, reason }];
  return { rules: "", start: isObject ? "any-object" : "any", annotations: [], unenforced };
}

function toFault(error: unknown): SchemaFault {
  if (error instanceof UnenforceableKeywordError) return error.fault;
  if (!(error instanceof UnsatisfiableSchemaError || error instanceof SchemaTooComplexError)) throw error;
  return { path: "", keyword: null, reason: error.message };
}
