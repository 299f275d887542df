import { createHash } from "node:crypto";
import { channel } from "node:diagnostics_channel";
import { ComplexityBudget } from "./complexity-budget.ts";
import { compileParameters, compileSchema, leftOpen } from "./compile-schema.ts";
import type { CompiledSchema } from "./compile-schema.ts";
import type { Schema } from "./dialect/raw-schema.ts";

/** Publishes every schema that is compiled in this process or for it. */
export const schemaCompilations = channel("parley:schema-compiled");

/** A schema in a request, and how it is used. */
export interface WantedSchema {
  readonly schema: Schema;
  /**
   * `answer`: of the content. `strict`: the parameters of a function that is `strict`. `lenient`: other parameters, of
   * which as much is enforced as can be, in the worst case nothing.
   */
  readonly use: "answer" | "strict" | "lenient";
  /** Whether the request is refused where no grammar can be made. */
  readonly isBinding: boolean;
}

/** The budget for all parameters that may stay unenforced: 128 tools with a budget each would take seconds. */
const lenientSteps = 400_000;

/** Limits the work for the schemas of one request, for each of them and for the tools together. */
export class RequestBudgets {
  readonly #strict = new ComplexityBudget();
  readonly #lenient = new ComplexityBudget(lenientSteps);

  of({ use }: WantedSchema): ComplexityBudget {
    if (use === "answer") return new ComplexityBudget();
    return use === "strict"
      ? new ComplexityBudget(undefined, this.#strict)
      : new ComplexityBudget(lenientSteps, this.#lenient);
  }
}

export interface CompiledWanted {
  readonly compiled: CompiledSchema;
  /** Whether another request would get the same. Not where other schemas of this request left too little of its budget. */
  readonly isFinal: boolean;
}

/** More than `x-ignored-params` ever shows. */
const mostAnnotations = 64;

/** Rules of different parameters have different names, since all of them stand in one grammar. */
export function compileWanted({ schema, use }: WantedSchema, budget: ComplexityBudget): CompiledWanted {
  const compiled =
    use === "answer"
      ? compileSchema(schema, "value", budget)
      : compileParameters(schema, `tool-${digestOf(schema)}`, budget, { isLenient: use === "lenient" });
  const isFinal = !budget.isSpentByOthers;
  if ("fault" in compiled) return { compiled, isFinal };
  return { compiled: { ...compiled, annotations: compiled.annotations.slice(0, mostAnnotations) }, isFinal };
}

/** What is given for a schema that was not compiled. */
export function withoutGrammar({ use }: WantedSchema, reason: string): CompiledSchema {
  if (use === "lenient") return leftOpen({ isObject: true }, reason);
  return { fault: { path: "", keyword: null, reason }, isMalformed: false };
}

const digestOf = (schema: Schema): string =>
  createHash("sha256").update(JSON.stringify(schema)).digest("hex").slice(0, 16);

/**
 * The schemas of one request, each compiled once. A `SchemaCompiler` fills it; a schema that it was not given is compiled
 * when it is first asked for.
 */
export class RequestSchemas {
  readonly #known = new Map<Schema, Map<WantedSchema["use"], CompiledSchema>>();
  readonly #binding = new Set<Schema>();
  readonly #budgets = new RequestBudgets();

  /** The schema of the answer. */
  answer(schema: Schema): CompiledSchema {
    return this.#get({ schema, use: "answer", isBinding: true });
  }

  /** The parameters of a function. @param isForced `tool_choice` demands the call */
  parameters(schema: Schema, { isStrict, isForced }: { isStrict: boolean; isForced: boolean }): CompiledSchema {
    return this.#get({ schema, use: isStrict ? "strict" : "lenient", isBinding: isStrict || isForced });
  }

  /**
   * The paths in a schema that its grammar does not enforce: words that are no keywords, and keywords that cannot be enforced
   * for a function that is forced and not strict; an empty path for the whole schema. None for a schema that binds no answer.
   */
  ignoredIn(schema: Schema): string[] {
    if (!this.#binding.has(schema)) return [];
    return [...(this.#known.get(schema)?.values() ?? [])].flatMap((compiled) =>
      "rules" in compiled ? [...compiled.annotations, ...compiled.unenforced].map(({ path }) => path) : [],
    );
  }

  add({ schema, use, isBinding }: WantedSchema, compiled: CompiledSchema): void {
    if (isBinding) this.#binding.add(schema);
    const uses = this.#known.get(schema) ?? new Map<WantedSchema["use"], CompiledSchema>();
    this.#known.set(schema, uses.set(use, compiled));
  }

  #get(wanted: WantedSchema): CompiledSchema {
    const known = this.#known.get(wanted.schema)?.get(wanted.use);
    if (known) return known;
    schemaCompilations.publish(wanted.schema);
    const { compiled } = compileWanted(wanted, this.#budgets.of(wanted));
    this.add(wanted, compiled);
    return compiled;
  }
}
