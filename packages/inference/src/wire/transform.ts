type Source<S> = Pick<AsyncIterator<S>, "next" | "return">;

/** The steps that transform the values of a source for a reader. */
export interface Transformer<S, T> {
  readonly source: Source<S>;
  /**
   * Returns the value to pass on, or undefined to skip it and read the next one.
   * @throws {FailedAfterError} in the middle of a value
   */
  readonly transform: (value: S) => T | undefined;
  /** Returns true when no more of the source is needed. Called after each value. */
  readonly isDone?: () => boolean;
  /** Returns the last value, if any, after the source has ended or no more of it is needed. */
  readonly flush?: () => Promise<T | undefined> | T | undefined;
  /** Called once: after the last value was passed on, after a failure, or when the reader has left. */
  readonly onEnd?: (isWhole: boolean, failure?: unknown) => void;
  /** Returns the error to throw in place of a failure, or a promise of that error. */
  readonly explain?: (failure: unknown) => unknown;
}

/** `transform` failed in the middle of a value. The value made until then is passed on before the failure is thrown. */
export class FailedAfterError extends Error {
  override name = "FailedAfterError";
  readonly made: unknown;

  /** @param cause the failure */
  constructor(made: unknown, cause: unknown) {
    super("failed in the middle of a value", { cause });
    this.made = made;
  }
}

/**
 * Transforms the values of a source for a reader that asks for one at a time. It behaves like an async generator with one
 * loop, but is cheaper: a generator needs several promises for each value, and a chain of these transforms needs one.
 * @param begin opens the source when the first value is asked for. An error from it is thrown unchanged, without `explain`
 */
export const transform = <S, T>(begin: () => Promise<Transformer<S, T>> | Transformer<S, T>): AsyncGenerator<T> =>
  new Transformed(begin);

type Result<T> = IteratorResult<T, void>;

const over: Result<never> = { done: true, value: undefined };

class Transformed<S, T> implements AsyncGenerator<T> {
  readonly #begin: () => Promise<Transformer<S, T>> | Transformer<S, T>;
  #beginning: Promise<void> | undefined;
  #transformer: Transformer<S, T> | undefined;
  /** The next transform in the chain, which gets the values of this one directly. */
  #reader: Transformed<T, unknown> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #isFlushed = false;
  #isOver = false;

  constructor(begin: () => Promise<Transformer<S, T>> | Transformer<S, T>) {
    this.#begin = begin;
  }

  next(): Promise<Result<T>> {
    // Nothing in the row reads this one, so the result is its own.
    return Promise.resolve(this.#next() as Promise<Result<T>> | Result<T>);
  }

  async return(): Promise<Result<T>> {
    await this.#beginning?.catch(() => undefined);
    if (this.#isOver) return over;
    try {
      await this.#transformer?.source.return?.();
    } finally {
      this.#end(false);
    }
    return over;
  }

  async throw(error: unknown): Promise<Result<T>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** @returns the result of the last transform in the chain for the next value, or a promise of it */
  #next(): unknown {
    const transformer = this.#transformer;
    if (this.#isOver) return this.#give(over);
    if (transformer === undefined) return this.#open();
    if (this.#failure !== undefined) return this.#giveLater(this.#fail(this.#failure.error, transformer));
    if (this.#isFlushed) return this.#give(this.#finish());
    if (transformer.isDone?.() === true) return this.#giveLater(this.#flush(transformer, true));
    const { source } = transformer;
    if (!(source instanceof Transformed)) return source.next().then(this.#take, this.#takeFailure);
    source.#reader = this;
    return source.#next();
  }

  async #open(): Promise<unknown> {
    const begin = async (): Promise<void> => void (this.#transformer = await this.#begin());
    this.#beginning = begin();
    try {
      await this.#beginning;
    } catch (error) {
      this.#isOver = true;
      return this.#giveLater(Promise.reject(error));
    } finally {
      this.#beginning = undefined;
    }
    return this.#next();
  }

  readonly #take = (result: Result<S>): unknown => (result.done ? this.#takeEnd() : this.#takeValue(result.value));

  #takeValue(value: S): unknown {
    const transformer = this.#transformer;
    if (transformer === undefined || this.#isOver) return this.#give(over);
    let made: T | undefined;
    try {
      made = transformer.transform(value);
    } catch (error) {
      if (!(error instanceof FailedAfterError)) return this.#giveLater(this.#fail(error, transformer));
      this.#failure = { error: error.cause };
      made = error.made as T | undefined; // made by its own transform
    }
    if (made === undefined) return this.#next();
    const reader = this.#reader;
    return reader === undefined ? { done: false, value: made } : reader.#takeValue(made);
  }

  #takeEnd(): unknown {
    const transformer = this.#transformer;
    if (transformer === undefined || this.#isOver) return this.#give(over);
    return this.#giveLater(this.#flush(transformer, false));
  }

  readonly #takeFailure = (failure: unknown): unknown => this.#giveLater(this.#fail(failure));

  /** Passes a result to the next transform in the chain. */
  #give(result: Result<T>): unknown {
    return this.#reader === undefined ? result : this.#reader.#take(result);
  }

  #giveLater(result: Promise<Result<T>>): unknown {
    return this.#reader === undefined ? result : result.then(this.#reader.#take, this.#reader.#takeFailure);
  }

  async #flush(transformer: Transformer<S, T>, isSourceOpen: boolean): Promise<Result<T>> {
    this.#isFlushed = true;
    let last: T | undefined;
    try {
      if (isSourceOpen) await transformer.source.return?.();
      last = await transformer.flush?.();
    } catch (error) {
      return this.#fail(error);
    }
    return last === undefined ? this.#finish() : { done: false, value: last };
  }

  #finish(): Result<T> {
    this.#end(true);
    return over;
  }

  /** @param opened the transformer, if its source is still open */
  async #fail(failure: unknown, opened?: Transformer<S, T>): Promise<never> {
    const explain = this.#transformer?.explain;
    try {
      await opened?.source.return?.();
    } catch {
      // The first failure is the one that is thrown.
    }
    this.#end(false, failure);
    throw explain ? await explain(failure) : failure;
  }

  #end(isWhole: boolean, failure?: unknown): void {
    const isFirst = !this.#isOver;
    this.#isOver = true;
    if (isFirst) this.#transformer?.onEnd?.(isWhole, failure);
  }
}
