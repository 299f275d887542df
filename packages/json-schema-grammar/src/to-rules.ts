import type { ComplexityBudget } from "./complexity-budget.ts";
import { readSchema } from "./dialect/read-schema.ts";
import type { SchemaNode, SchemaWord } from "./dialect/schema-node.ts";
import { buildRules } from "./grammar/build-rules.ts";
import { keepFinite } from "./grammar/keep-finite.ts";
import type { FiniteRules } from "./grammar/keep-finite.ts";
import { MalformedSchemaError, UnenforceableKeywordError, UnsatisfiableSchemaError } from "./schema-fault.ts";
import type { SchemaFault } from "./schema-fault.ts";
import { SchemaValues } from "./values/schema-values.ts";

/** A schema, and whether its value also has to be an object. */
export interface WantedValue {
  readonly schema: boolean | object;
  readonly isObject: boolean;
}

/**
 * The rules of the grammar before they are written.
 * @throws {UnenforceableKeywordError} {UnsatisfiableSchemaError} {SchemaTooComplexError}
 */
export function toRules(
  { schema, isObject }: WantedValue,
  budget: ComplexityBudget,
  omitted: ReadonlySet<string> = new Set(),
): FiniteRules & { readonly annotations: readonly SchemaWord[] } {
  const { root, annotations } = readSchema(schema, omitted);
  const values = new SchemaValues(budget);
  const anyObject: SchemaNode = { path: "", keywords: { type: ["object"] } };
  const whole = values.conditions.of(root);
  const condition = isObject ? values.conditions.and(values.conditions.of(anyObject), whole) : whole;
  const finite = keepFinite(buildRules(condition, values, budget), budget);
  if (finite.order[0] === undefined) throw new UnsatisfiableSchemaError("no finite JSON value satisfies this schema");
  return { ...finite, annotations };
}

/** If more keywords were left out, little of the schema would be enforced. */
const maxUnenforced = 32;

/**
 * Does something with a schema, leaving out one keyword after another that cannot be enforced.
 * @param attempt gets the paths to leave out
 * @throws {UnenforceableKeywordError} where there are too many {MalformedSchemaError} {UnsatisfiableSchemaError} {SchemaTooComplexError}
 */
export function leaveOut<T>(attempt: (omitted: ReadonlySet<string>) => T): { result: T; unenforced: SchemaFault[] } {
  const unenforced = new Map<string, SchemaFault>();
  for (;;) {
    try {
      return { result: attempt(new Set(unenforced.keys())), unenforced: [...unenforced.values()] };
    } catch (error) {
      if (!(error instanceof UnenforceableKeywordError) || error instanceof MalformedSchemaError) throw error;
      const { fault } = error;
      if (unenforced.has(fault.path) || unenforced.size === maxUnenforced) throw error;
      unenforced.set(fault.path, fault);
    }
  }
}
