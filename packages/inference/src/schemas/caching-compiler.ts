import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { FairQueue } from "@parley/common/fair-queue";
import type { CompileThread } from "./schema-compiler.ts";
import { RequestBudget } from "./request-budget.ts";
import type { CountedSchema } from "./request-budget.ts";
import { compileWanted, takeSteps, withoutGrammar } from "./compile-wanted.ts";
import { RequestSchemas, schemaCompilations } from "./request-schemas.ts";
import type { WantedSchema } from "./request-schemas.ts";

/** 1 to 2 ms. Larger schemas are compiled in another thread. */
const inlineSteps = 4000;

/** Longer schemas go to the thread unread. Reading this many characters takes about as long as the steps above. */
const inlineCharacters = 16_384;

/** The bounds of the cache of compiled schemas: the number of callers, and the characters of rules for each. */
const cached = { owners: 64, characters: 2_000_000 };

/** A longer schema is refused before it is read. In characters of JSON. */
const maxCharacters = 1_000_000;

interface Job extends WantedSchema {
  readonly key: string;
  /** The schema as JSON. */
  readonly text: string;
  /** From an earlier request. */
  readonly known: CountedSchema | undefined;
}

interface Outcome extends CountedSchema {
  /** True if later requests may use this result. */
  readonly isKept: boolean;
}

/**
 * Compiles the schemas of requests: small ones at once, larger ones in a thread, so that the event loop stays free. The
 * results are kept for each caller. So the schema that an application always sends is compiled once, and one caller's
 * schemas cannot push out those of another. Callers take turns in the thread.
 */
export class CachingCompiler {
  readonly #owners = new LRUCache<string, LRUCache<string, CountedSchema>>({ max: cached.owners });
  readonly #thread: CompileThread;
  readonly #turns = new FairQueue(1);

  constructor(thread: CompileThread) {
    this.#thread = thread;
  }

  /**
   * @param owner whose cache is used, such as the id of a key
   * @throws the signal's reason when it aborts first
   */
  async compile(wanted: readonly WantedSchema[], owner: string, signal: AbortSignal): Promise<RequestSchemas> {
    const schemas = new RequestSchemas(compileWanted);
    const cache = this.#cacheOf(owner);
    const jobs = wanted.map((one): Job => {
      const text = JSON.stringify(one.schema);
      const key = keyOf(one, text);
      const tooLong = { compiled: withoutGrammar(one, tooManyCharacters), steps: 0 };
      return { ...one, key, text, known: text.length > maxCharacters ? tooLong : cache.get(key) };
    });
    const outcomes = await this.#compileAll(jobs, owner, signal);
    const budget = new RequestBudget();
    for (const [index, job] of jobs.entries()) {
      const { isKept, ...counted } = outcomes[index] ?? failed(job, false);
      schemas.add(job, takeSteps(job, counted, budget));
      if (isKept) cache.set(job.key, counted);
    }
    return schemas;
  }

  #cacheOf(owner: string): LRUCache<string, CountedSchema> {
    const known = this.#owners.get(owner);
    if (known) return known;
    const cache = new LRUCache<string, CountedSchema>({ maxSize: cached.characters, sizeCalculation: sizeOf });
    this.#owners.set(owner, cache);
    return cache;
  }

  async #compileAll(jobs: readonly Job[], keyId: string, signal: AbortSignal): Promise<Outcome[]> {
    for (const { known, schema } of jobs) if (!known) schemaCompilations.publish(schema);
    const small = compileSmall(jobs);
    const done = jobs.map((job, index) => small[index] ?? (job.known && { ...job.known, isKept: false }));
    const large = jobs.filter((_, index) => !done[index]);
    if (large.length === 0) return done.filter((one) => one !== undefined);
    const cost = large.reduce((sum, { text }) => sum + text.length, 0);
    const inThread = (): Promise<Outcome[] | undefined> => this.#compileInThread(jobs, done, signal);
    const compiled =
      (await this.#turns.run({ keyId, cost }, signal, inThread)) ?? large.map((job) => failed(job, large.length === 1));
    const others = compiled.values();
    return jobs.map((job, index) => done[index] ?? others.next().value ?? failed(job, false));
  }

  /** Compiles the schemas that are not done yet. Undefined if the thread had to be stopped or ran out of memory. */
  async #compileInThread(
    jobs: readonly Job[],
    done: readonly (Outcome | undefined)[],
    signal: AbortSignal,
  ): Promise<Outcome[] | undefined> {
    const wanted = jobs.map(({ text, use, isBinding }, index) => {
      const steps = done[index]?.steps;
      return steps === undefined ? { text, use, isBinding } : { use, steps };
    });
    try {
      return (await this.#thread.compile(wanted, signal)).map(toOutcome);
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  }
}

/** Compiles the first schemas, as long as they are known or take little work together. */
function compileSmall(jobs: readonly Job[]): Outcome[] {
  const budget = new RequestBudget();
  let stepsLeft = inlineSteps;
  let charactersLeft = inlineCharacters;
  const done: Outcome[] = [];
  for (const job of jobs) {
    if (job.known) {
      budget.take(job.use, job.known.steps);
      done.push({ ...job.known, isKept: false });
      continue;
    }
    charactersLeft -= job.text.length;
    const compiled = charactersLeft < 0 ? undefined : compileWanted(job, budget, stepsLeft);
    if (!compiled) break;
    stepsLeft -= compiled.steps;
    done.push(toOutcome(compiled));
  }
  return done;
}

/** A schema that failed only because the others had used up the budget is not cached. */
const toOutcome = (counted: CountedSchema): Outcome => ({ ...counted, isKept: counted.steps < Infinity });

/** A schema that was the only large one is cached as failed, so that it fails once. */
const failed = (job: Job, isAlone: boolean): Outcome => ({
  compiled: withoutGrammar(job, tooMuch),
  steps: 0,
  isKept: isAlone,
});

/** Equal schemas have equal keys, if their members stand in the same order. */
const keyOf = ({ use }: WantedSchema, text: string): string =>
  createHash("sha256").update(`${use} ${text}`).digest("base64");

function sizeOf({ compiled }: CountedSchema): number {
  if ("fault" in compiled) return 1000;
  const paths = [...compiled.annotations, ...compiled.unenforced].reduce((sum, { path }) => sum + path.length, 0);
  return compiled.rules.length + paths + 1000;
}

const tooMuch = "the schema takes too much time or memory to enforce";
const tooManyCharacters = `the schema is longer than ${maxCharacters} characters`;
