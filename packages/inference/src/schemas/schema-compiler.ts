import type { CachingCompiler } from "./caching-compiler.ts";
import { CompileThread } from "./compile-thread.ts";
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
