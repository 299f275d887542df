import { ComplexityBudget, SchemaTooComplexError, stepsOfSchema } from "./complexity-budget.ts";
import type { SchemaWord } from "./dialect/schema-node.ts";
import { completeGrammar } from "./grammar/complete-grammar.ts";
import { assertFewParses } from "./grammar/count-parses.ts";
import { writeRules } from "./grammar/write-rules.ts";
import { MalformedSchemaError, UnenforceableKeywordError, UnsatisfiableSchemaError } from "./schema-fault.ts";
import type { SchemaFault } from "./schema-fault.ts";
import { leaveOut, toRules } from "./to-rules.ts";
import type { WantedValue } from "./to-rules.ts";

/** Findings about a schema that was compiled. */
interface Compiled {
  /** The words in the schema that have no effect on which values are valid, in document order. */
  readonly annotations: readonly SchemaWord[];
  /**
   * The keywords that the grammar leaves out because they cannot be enforced. Always empty unless compiling is lenient. If the
   * whole schema is left out, it is listed with an empty path.
   */
  readonly unenforced: readonly SchemaFault[];
}

/** A schema as a whole grammar. */
export interface SchemaGrammar extends Compiled {
  /** GBNF. Its rule `root` derives the JSON texts that satisfy the schema, and no other text. */
  readonly grammar: string;
}

/** A schema as rules of a grammar. */
export interface EnforcedSchema extends Compiled {
  /** GBNF rules, which use the rules of `completeGrammar`. Empty where nothing is enforced. */
  readonly rules: string;
  /** The name of the rule for the whole value. */
  readonly start: string;
}

/** The first reason why a schema has no grammar. */
export interface RefusedSchema {
  readonly fault: SchemaFault;
  readonly kind: RefusalKind;
}

/**
 * - `malformed`: it is not a JSON Schema: a keyword has a value that its draft forbids, or a reference leads nowhere.
 * - `unenforceable`: no grammar of finite size can enforce the keyword where it stands.
 * - `unsatisfiable`: no finite JSON value satisfies the schema.
 * - `too complex`: a grammar may exist, but a bound on work or size was reached.
 */
export type RefusalKind = "malformed" | "unenforceable" | "unsatisfiable" | "too complex";

export type CompiledSchema = EnforcedSchema | RefusedSchema;

export interface CompileOptions {
  /**
   * Leaves out and lists the keywords that cannot be enforced, at most 32, or the whole schema where it is too complex.
   * Without it, the schema is refused. Default: false.
   */
  readonly isLenient?: boolean;
  /** True if the value also has to be an object, like the arguments of a function. Default: false. */
  readonly isObject?: boolean;
}

export interface GrammarOptions extends CompileOptions {
  /** The maximum work, in steps of about 0.3 µs of one core. Default: 600,000. */
  readonly maxSteps?: number;
}

/**
 * Compiles a schema to a grammar. It never throws for a schema, whatever its size and depth.
 * @param schema a JSON Schema of draft 4, 6, 7, 2019-09 or 2020-12, as `JSON.parse` or `parseJson` returns it
 */
export function compileSchema(
  schema: boolean | object,
  { maxSteps = stepsOfSchema, ...options }: GrammarOptions = {},
): SchemaGrammar | RefusedSchema {
  const compiled = compileRules(schema, "value", new ComplexityBudget(maxSteps), options);
  if ("fault" in compiled) return compiled;
  const { annotations, unenforced } = compiled;
  return { grammar: completeGrammar(compiled), annotations, unenforced };
}

/**
 * Compiles a schema to rules, for a grammar with several schemas or with other rules.
 * @param prefix the prefix of every rule's name: letters, digits and `-`. Each schema of a grammar needs its own.
 * @param budget limits all schemas that share it together
 */
export function compileRules(
  schema: boolean | object,
  prefix: string,
  budget: ComplexityBudget,
  { isLenient = false, isObject = false }: CompileOptions = {},
): CompiledSchema {
  const wanted: WantedValue = { schema, isObject };
  const write = (omitted: ReadonlySet<string>): Omit<EnforcedSchema, "unenforced"> => {
    const { rules, annotations } = toRules(wanted, budget, omitted);
    assertFewParses(rules, budget);
    return { rules: writeRules(rules, prefix, budget), start: `${prefix}-0`, annotations };
  };
  try {
    const { result, unenforced } = isLenient ? leaveOut(write) : { result: write(new Set()), unenforced: [] };
    return { ...result, unenforced };
  } catch (error) {
    if (isLenient && error instanceof SchemaTooComplexError) return leftOpen({ isObject }, error.message);
    return toRefusal(error);
  }
}

/** Returns rules that allow any value, or any object. @param reason why nothing of the schema is enforced */
export function leftOpen({ isObject }: Pick<WantedValue, "isObject">, reason: string): EnforcedSchema {
  const unenforced = [{ path: "", keyword: null, reason }];
  return { rules: "", start: isObject ? "any-object" : "any", annotations: [], unenforced };
}

function toRefusal(error: unknown): RefusedSchema {
  if (error instanceof MalformedSchemaError) return { fault: error.fault, kind: "malformed" };
  if (error instanceof UnenforceableKeywordError) return { fault: error.fault, kind: "unenforceable" };
  const whole = (reason: string): SchemaFault => ({ path: "", keyword: null, reason });
  if (error instanceof UnsatisfiableSchemaError) return { fault: whole(error.message), kind: "unsatisfiable" };
  if (error instanceof SchemaTooComplexError) return { fault: whole(error.message), kind: "too complex" };
  throw error;
}
