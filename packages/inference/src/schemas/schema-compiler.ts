import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { CachingCompiler } from "./caching-compiler.ts";
import type { CompileJob } from "./compile-worker.ts";
import type { CountedSchema } from "./request-budget.ts";
import { RequestSchemas } from "./request-schemas.ts";
import type { WantedSchema } from "./request-schemas.ts";

/** Compiles the schemas of requests. The code for it is loaded with the first request that has a schema. */
export class SchemaCompiler implements AsyncDisposable {
  readonly #thread: CompileThread;
  #compiler: CachingCompiler | undefined;

  /** @param thread is disposed with the compiler */
  constructor(thread = new CompileThread()) {
    this.#thread = thread;
  }

  /**
   * @param owner whose cache is used, such as the id of a key
   * @throws the signal's reason when it aborts first
   */
  async compile(wanted: readonly WantedSchema[], owner: string, signal: AbortSignal): Promise<RequestSchemas> {
    if (wanted.length === 0) return new RequestSchemas();
    const compiler = this.#compiler ?? (await this.#load());
    return compiler.compile(wanted, owner, signal);
  }

  /** Requests that come meanwhile get the same one. */
  async #load(): Promise<CachingCompiler> {
    const { CachingCompiler } = await import("./caching-compiler.ts");
    return (this.#compiler ??= new CachingCompiler(this.#thread));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]();
  }
}

interface Limits {
  /** Far above what the budgets allow, so that only a mistake of ours can reach it. */
  readonly cpuMs: number;
  /** Of the clock. For a thread that does not even say how much CPU time it has taken. */
  readonly stuckMs: number;
  readonly megabytes: number;
}

const usual: Limits = { cpuMs: 10_000, stuckMs: 120_000, megabytes: 256 };

/** For objects that were just made. By default V8 keeps up to 200 MB for them. */
const youngMegabytes = 24;

/** The thread ends after it was idle for this long. */
const idleMs = 60_000;

/**
 * Compiles schemas in a thread. A job that takes too much CPU time is stopped. The clock hardly counts, because on a busy
 * machine a job waits for a processor.
 */
export class CompileThread implements AsyncDisposable {
  readonly #limits: Limits;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: Partial<Limits> = {}) {
    this.#limits = { ...usual, ...limits };
  }

  /**
   * To be called for one job at a time.
   * @returns what was not compiled before
   * @throws where the signal aborts, and where the job takes too much CPU time or memory
   */
  async compile(job: CompileJob, signal: AbortSignal): Promise<CountedSchema[]> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    const overdue = new AbortController();
    const timer = setInterval(watch(worker, this.#limits.cpuMs, overdue), this.#limits.cpuMs / 10);
    const ends = AbortSignal.any([signal, overdue.signal, AbortSignal.timeout(this.#limits.stuckMs)]);
    worker.ref();
    worker.postMessage(job);
    try {
      const [compiled] = (await once(worker, "message", { signal: ends })) as [CountedSchema[]]; // it sends nothing else
      return compiled;
    } catch (error) {
      await this.#stop();
      throw error;
    } finally {
      clearInterval(timer);
      worker.unref();
      this.#idle = setTimeout(() => void this.#stop(), idleMs).unref();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }

  #start(): Worker {
    const worker = new Worker(new URL("./compile-worker.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.megabytes, maxYoungGenerationSizeMb: youngMegabytes },
    });
    // Its error is that of its job. A thread that ends without one is replaced.
    worker.on("error", () => undefined);
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

/** Looks again and again at the CPU time that the thread has taken since the first look. */
function watch(worker: Worker, maxMs: number, overdue: AbortController): () => void {
  let startMs: number | undefined;
  const look = async (): Promise<void> => {
    const { user, system } = await worker.cpuUsage();
    const usedMs = (user + system) / 1000;
    startMs ??= usedMs;
    if (usedMs - startMs > maxMs) overdue.abort();
  };
  // A thread that has ended says nothing.
  return () => void look().catch(() => undefined);
}
