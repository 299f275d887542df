import { createHash } from "node:crypto";
import { channel } from "node:diagnostics_channel";
import { ComplexityBudget } from "./complexity-budget.ts";
import { compileParameters, compileSchema, leftOpen } from "./compile-schema.ts";
import type { CompiledSchema } from "./compile-schema.ts";
import type { Schema } from "./dialect/raw-schema.ts";
import { RequestBudget } from "./request-budget.ts";
import type { CountedSchema, SchemaUse } from "./request-budget.ts";

/** Publishes every schema that is compiled in this process or for it. */
export const schemaCompilations = channel("parley:schema-compiled");

/** A schema in a request, and how it is used. */
export interface WantedSchema {
  readonly schema: Schema;
  readonly use: SchemaUse;
  /** Whether the request is refused where no grammar can be made. */
  readonly isBinding: boolean;
}

/** More than `x-ignored-params` ever shows. */
const mostAnnotations = 64;

const tooMuchTogether = "the schemas of this request take too much work together: send fewer of them";

/** Compiles a schema with what the others of its request have left. */
export function compileWanted(wanted: WantedSchema, budget: RequestBudget): CountedSchema;
/** @returns undefined where it takes more than `mostSteps`, and more were left */
export function compileWanted(
  wanted: WantedSchema,
  budget: RequestBudget,
  mostSteps: number,
): CountedSchema | undefined;
export function compileWanted(
  wanted: WantedSchema,
  budget: RequestBudget,
  mostSteps = Infinity,
): CountedSchema | undefined {
  const { use } = wanted;
  const own = new ComplexityBudget(Math.min(budget.left(use), mostSteps));
  const compiled = compileWith(wanted, own);
  if (own.isSpent && mostSteps < budget.left(use)) return undefined;
  const steps = own.isSpent && budget.isShared(use) ? Infinity : own.spent;
  return { compiled: takeSteps(wanted, { compiled, steps }, budget), steps };
}

/** What becomes of a compiled schema in a request of which not many steps may be left. */
export function takeSteps(
  wanted: WantedSchema,
  { compiled, steps }: CountedSchema,
  budget: RequestBudget,
): CompiledSchema {
  return budget.take(wanted.use, steps) ? compiled : withoutGrammar(wanted, tooMuchTogether);
}

/** Rules of different parameters have different names, since all of them stand in one grammar. */
function compileWith({ schema, use }: WantedSchema, budget: ComplexityBudget): CompiledSchema {
  const compiled =
    use === "answer"
      ? compileSchema(schema, "value", budget)
      : compileParameters(schema, `tool-${digestOf(schema)}`, budget, { isLenient: use === "lenient" });
  if ("fault" in compiled) return compiled;
  return { ...compiled, annotations: compiled.annotations.slice(0, mostAnnotations) };
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
  readonly #budget = new RequestBudget();

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
    const { compiled } = compileWanted(wanted, this.#budget);
    this.add(wanted, compiled);
    return compiled;
  }
}
