import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { Piscina } from "piscina";
import { ComplexityBudget } from "./complexity-budget.ts";
import type { CompiledSchema } from "./compile-schema.ts";
import { compileAll } from "./compile-worker.ts";
import type { WantedText } from "./compile-worker.ts";
import { RequestSchemas, compileWanted, schemaCompilations, withoutGrammar } from "./request-schemas.ts";
import type { CompiledWanted, WantedSchema } from "./request-schemas.ts";

/** 1 to 5 ms. What takes more is compiled in another thread. */
const inlineSteps = 4000;

/** Longer schemas are not even read at once. Reading this many characters takes about as long as the steps above. */
const inlineCharacters = 16_384;

/** Far above what the budgets allow, so that only a mistake of ours can reach it. */
const deadlineMs = 10_000;

/** The compiled schemas that are kept: of so many callers, in characters of rules for each. */
const cached = { owners: 64, characters: 2_000_000 };

const threadMegabytes = 256;

/** A longer schema is refused before it is read. In characters of JSON. */
const mostCharacters = 1_000_000;

interface Job extends WantedSchema {
  readonly key: string;
  /** The schema as JSON. */
  readonly text: string;
}

/**
 * Compiles the schemas of requests: small ones at once, larger ones in a thread, so that the event loop stays free. The
 * results are kept for each caller. So the schema that an application always sends is compiled once, and one caller's
 * schemas cannot push out those of another.
 */
export class SchemaCompiler implements AsyncDisposable {
  readonly #owners = new LRUCache<string, LRUCache<string, CompiledSchema>>({ max: cached.owners });
  readonly #thread = new Piscina<readonly WantedText[], CompiledWanted[]>({
    filename: new URL("./compile-worker.ts", import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: 60_000,
    resourceLimits: { maxOldGenerationSizeMb: threadMegabytes },
  });

  /**
   * @param owner whose cache is used, such as the id of a key
   * @throws the signal's reason when it aborts first
   */
  async compile(wanted: readonly WantedSchema[], owner: string, signal: AbortSignal): Promise<RequestSchemas> {
    const schemas = new RequestSchemas();
    if (wanted.length === 0) return schemas;
    const cache = this.#cacheOf(owner);
    const jobs = wanted.flatMap((one): Job[] => {
      const text = JSON.stringify(one.schema);
      const key = keyOf(one, text);
      const known = text.length > mostCharacters ? withoutGrammar(one, tooLong) : cache.get(key);
      if (known) schemas.add(one, known);
      return known ? [] : [{ ...one, key, text }];
    });
    for (const [job, { compiled, isFinal }] of await this.#compileAll(jobs, signal)) {
      schemas.add(job, compiled);
      if (isFinal) cache.set(job.key, compiled);
    }
    return schemas;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread.destroy();
  }

  #cacheOf(owner: string): LRUCache<string, CompiledSchema> {
    const known = this.#owners.get(owner);
    if (known) return known;
    const cache = new LRUCache<string, CompiledSchema>({ maxSize: cached.characters, sizeCalculation: sizeOf });
    this.#owners.set(owner, cache);
    return cache;
  }

  async #compileAll(jobs: readonly Job[], signal: AbortSignal): Promise<(readonly [Job, CompiledWanted])[]> {
    for (const { schema } of jobs) schemaCompilations.publish(schema);
    const small = compileInline(jobs);
    const large = jobs.slice(small.length);
    const compiled = large.length === 0 ? small : [...small, ...(await this.#compileInThread(large, signal))];
    return jobs.map((job, index) => {
      const done = compiled[index] ?? { compiled: withoutGrammar(job, "it could not be compiled"), isFinal: false };
      return [job, done] as const;
    });
  }

  async #compileInThread(jobs: readonly Job[], signal: AbortSignal): Promise<CompiledWanted[]> {
    const wanted = jobs.map(({ text, use, isBinding }) => ({ text, use, isBinding }));
    const deadline = AbortSignal.timeout(deadlineMs);
    try {
      return await this.#thread.run(wanted, { name: compileAll.name, signal: AbortSignal.any([signal, deadline]) });
    } catch {
      signal.throwIfAborted();
      // The thread was stopped at its deadline, or has no memory left. A schema that does this alone does it once.
      const isFinal = jobs.length === 1;
      return jobs.map((job) => ({ compiled: withoutGrammar(job, tooMuch), isFinal }));
    }
  }
}

/** Those at the beginning that take little work together. */
function compileInline(jobs: readonly Job[]): CompiledWanted[] {
  const budget = new ComplexityBudget(inlineSteps);
  let charactersLeft = inlineCharacters;
  const done: CompiledWanted[] = [];
  for (const job of jobs) {
    charactersLeft -= job.text.length;
    if (charactersLeft < 0) break;
    const compiled = compileWanted(job, budget);
    if (budget.isSpent) break;
    done.push(compiled);
  }
  return done;
}

/** Equal schemas have equal keys, if their members stand in the same order. */
const keyOf = ({ use }: WantedSchema, text: string): string =>
  createHash("sha256").update(`${use} ${text}`).digest("base64");

function sizeOf(compiled: CompiledSchema): number {
  if ("fault" in compiled) return 1000;
  const paths = [...compiled.annotations, ...compiled.unenforced].reduce((sum, { path }) => sum + path.length, 0);
  return compiled.rules.length + paths + 1000;
}

const tooMuch = "the schema takes too much time or memory to enforce";
const tooLong = `the schema is longer than ${mostCharacters} characters`;
