/** A source that is passed on, and who is told of it. */
export interface WatchedSource<S, T> {
  readonly source: Pick<AsyncIterator<S>, "next" | "return">;
  /** Makes what is passed on. */
  readonly map: (value: S) => T;
  /** Called once, when the source has ended by itself, failed or was left. */
  readonly onEnd: (isWhole: boolean, failure?: unknown) => void;
  /** Gives what is thrown instead of a failure, or a promise of it. */
  readonly explain?: (failure: unknown) => unknown;
}

/**
 * Passes on a source and tells how it ended. An async generator that did this would cost each value several promises. This costs one.
 * @param begin called for the first value. What it throws is thrown as it is
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
