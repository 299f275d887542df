import { channel } from "node:diagnostics_channel";
import { ComplexityBudget } from "./complexity-budget.ts";
import { compileParameters, compileSchema } from "./compile-schema.ts";
import type { CompiledSchema } from "./compile-schema.ts";
import type { Schema } from "./dialect/raw-schema.ts";

/** Publishes every schema that is compiled in this process. */
export const schemaCompilations = channel("parley:schema-compiled");

/** The budget for all parameters that may stay unenforced: 128 tools with a budget each would take seconds. */
const optionalSteps = 400_000;

/**
 * The schemas of one request. Each is compiled when it is first asked for and never again: the stage that validates the
 * request and the one that makes its grammars share one of these. Budgets limit the schemas of a request together.
 */
export class RequestSchemas {
  readonly #answers = new Map<Schema, CompiledSchema>();
  readonly #parameters = new Map<Schema, CompiledSchema>();
  readonly #bindingBudget = new ComplexityBudget();
  readonly #optionalBudget = new ComplexityBudget(optionalSteps);

  /** The schema of the answer. */
  answer(schema: Schema): CompiledSchema {
    return once(this.#answers, schema, () => compileSchema(schema, "value", new ComplexityBudget()));
  }

  /** The parameters of a function. @param isBinding the request is refused where they cannot be enforced */
  parameters(schema: Schema, isBinding: boolean): CompiledSchema {
    const budget = isBinding ? this.#bindingBudget : this.#optionalBudget;
    return once(this.#parameters, schema, () => compileParameters(schema, `tool-${this.#parameters.size}`, budget));
  }
}

function once(known: Map<Schema, CompiledSchema>, schema: Schema, compile: () => CompiledSchema): CompiledSchema {
  const compiled = known.get(schema) ?? compile();
  if (!known.has(schema)) schemaCompilations.publish(schema);
  known.set(schema, compiled);
  return compiled;
}
