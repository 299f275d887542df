import { findUnenforceable } from "./check-schema.ts";
import type { SchemaFault } from "./check-schema.ts";
import { UnsatisfiableSchema } from "./compile-grammar.ts";
import type { Conjunction, Schema } from "./schema-node.ts";
import { writeRules } from "./to-gbnf.ts";
import { SchemaTooComplex } from "./complexity-budget.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

/** A schema as a grammar. */
export interface EnforcedSchema {
  /** GBNF rules. */
  readonly rules: string;
  /** The name of the rule for the whole value. */
  readonly start: string;
  /** The words in the schema that have no effect on which values are valid, in document order. */
  readonly annotations: readonly SchemaWord[];
  /** The keywords that the grammar leaves out because they cannot be enforced; always empty unless it is lenient. */
  readonly unenforced: readonly SchemaFault[];
}

/** A member of a schema. `path` is that of the member itself, such as `properties.a.example`. */
export interface SchemaWord {
  readonly path: string;
  readonly word: string;
}

/** The grammar that enforces a schema, or the first reason why it cannot be enforced. */
export type CompiledSchema = EnforcedSchema | { readonly fault: SchemaFault };

export interface CompileOptions {
  /** Keywords that cannot be enforced are left out and listed. Otherwise the schema is refused. */
  readonly isLenient?: boolean;
}

/** @param prefix the prefix of every rule's name @param budget limits all schemas that share it together */
export function compileSchema(
  schema: Schema,
  prefix: string,
  budget: ComplexityBudget,
  _options: CompileOptions = {},
): CompiledSchema {
  return compile([schema], schema, prefix, budget);
}

/** The same for the parameters of a function: its arguments are always an object, whatever the schema allows. */
export function compileParameters(
  parameters: Schema,
  prefix: string,
  budget: ComplexityBudget,
  _options: CompileOptions = {},
): CompiledSchema {
  return compile([{ type: "object" }, parameters], parameters, prefix, budget);
}

function compile(conjunction: Conjunction, root: Schema, prefix: string, budget: ComplexityBudget): CompiledSchema {
  const fault = findUnenforceable(root);
  if (fault) return { fault };
  try {
    return {
      rules: writeRules(conjunction, root, prefix, budget),
      start: `${prefix}-0`,
      annotations: [],
      unenforced: [],
    };
  } catch (error) {
    if (!(error instanceof UnsatisfiableSchema || error instanceof SchemaTooComplex)) throw error;
    return { fault: { path: "", keyword: null, reason: error.message } };
  }
}
