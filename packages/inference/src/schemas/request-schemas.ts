import { channel } from "node:diagnostics_channel";
import type { CompiledSchema } from "@parley/json-schema-grammar";
import type { Schema } from "@parley/json-schema-grammar";
import { RequestBudget } from "./request-budget.ts";
import type { CountedSchema, SchemaUse } from "./request-budget.ts";

/** Publishes every schema that is compiled in this process or for it. */
export const schemaCompilations = channel("parley:schema-compiled");

/** A schema in a request, and how it is used. */
export interface WantedSchema {
  readonly schema: Schema;
  readonly use: SchemaUse;
  /** True if the request is refused where no grammar can be made. */
  readonly isBinding: boolean;
}

type Compile = (wanted: WantedSchema, budget: RequestBudget) => CountedSchema;

/**
 * The schemas of one request, each compiled once. A `SchemaCompiler` fills it. With `compileWanted` it compiles a schema that
 * it was not given when it is first asked for.
 */
export class RequestSchemas {
  readonly #compile: Compile;
  readonly #known = new Map<Schema, Map<WantedSchema["use"], CompiledSchema>>();
  readonly #binding = new Set<Schema>();
  readonly #budget = new RequestBudget();

  constructor(compile: Compile = refuse) {
    this.#compile = compile;
  }

  /** The schema of the answer. */
  answer(schema: Schema): CompiledSchema {
    return this.#get({ schema, use: "answer", isBinding: true });
  }

  /** The parameters of a function. @param isForced `tool_choice` demands the call */
  parameters(schema: Schema, { isStrict, isForced }: { isStrict: boolean; isForced: boolean }): CompiledSchema {
    return this.#get({ schema, use: isStrict ? "strict" : "lenient", isBinding: isStrict || isForced });
  }

  /**
   * The paths in a schema that its grammar does not enforce: members that are not keywords, and keywords that cannot be
   * enforced
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
    const { compiled } = this.#compile(wanted, this.#budget);
    this.add(wanted, compiled);
    return compiled;
  }
}

function refuse(): never {
  throw new Error("a schema is asked for that the request does not have");
}
