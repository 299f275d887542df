/** A source of values, and the functions that are called for it. */
export interface WatchedSource<S, T> {
  readonly source: Pick<AsyncIterator<S>, "next" | "return">;
  /** Turns a value of the source into the value that is passed on. */
  readonly map: (value: S) => T;
  /** Called once: when the source has ended by itself, has failed, or is no longer read. */
  readonly onEnd: (isWhole: boolean, failure?: unknown) => void;
  /** Returns the error that is thrown instead of a failure, or a promise of it. */
  readonly explain?: (failure: unknown) => unknown;
}

/**
 * Passes on the values of a source, and reports how the source ended. An async generator would need several promises for each value.
 * This needs one.
 * @param begin opens the source when the first value is asked for. Its errors are not explained
 */
export const watchEnd = <S, T>(begin: () => WatchedSource<S, T>): AsyncGenerator<T> => new Watcher(begin);

class Watcher<S, T> implements AsyncGenerator<T> {
  readonly #begin: () => WatchedSource<S, T>;
  #watched: WatchedSource<S, T> | undefined;
  #isOver = false;

  constructor(begin: () => WatchedSource<S, T>) {
    this.#begin = begin;
  }

  next(): Promise<IteratorResult<T, void>> {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
    try {
      this.#watched ??= this.#begin();
    } catch (error) {
      this.#isOver = true;
      return Promise.reject(error);
    }
    return this.#watched.source.next().then(this.#pass, this.#fail);
  }

  async return(): Promise<IteratorResult<T, void>> {
    try {
      await this.#watched?.source.return?.();
    } finally {
      this.#end(false);
    }
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<T, void>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  readonly #pass = ({ done, value }: IteratorResult<S, void>): IteratorResult<T, void> | Promise<never> => {
    try {
      if (!done && this.#watched) return { done: false, value: this.#watched.map(value) };
    } catch (error) {
      return this.#fail(error);
    }
    this.#end(true);
    return { done: true, value: undefined };
  };

  readonly #fail = async (failure: unknown): Promise<never> => {
    this.#end(false, failure);
    const { explain } = this.#watched ?? {};
    throw explain ? await explain(failure) : failure;
  };

  #end(isWhole: boolean, failure?: unknown): void {
    if (!this.#isOver) this.#watched?.onEnd(isWhole, failure);
    this.#isOver = true;
  }
}
