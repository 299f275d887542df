import { ImpossibleEventError } from "../state-table.ts";
import type { Step } from "../state-table.ts";
import { states } from "./transform-states.ts";
import type { TransformState } from "./transform-states.ts";

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

const doneResult: Result<never> = { done: true, value: undefined };

class Transformed<S, T> implements AsyncGenerator<T> {
  readonly #begin: () => Promise<Transformer<S, T>> | Transformer<S, T>;
  #state = states.new;
  #beginning: Promise<void> | undefined;
  /** Set before the state `reading`. No earlier state uses it. */
  #transformer!: Transformer<S, T>;
  /** The next transform in the chain, which gets the values of this one directly. */
  #reader: Transformed<T, unknown> | undefined;
  /** The failure to throw in the state `failing`. */
  #failure: unknown;

  constructor(begin: () => Promise<Transformer<S, T>> | Transformer<S, T>) {
    this.#begin = begin;
  }

  /** @throws {ImpossibleEventError} if the source is still being opened for an earlier call */
  next(): Promise<Result<T>> {
    // Nothing in the row reads this one, so the result is its own.
    return Promise.resolve(this.#next() as Promise<Result<T>> | Result<T>);
  }

  async return(): Promise<Result<T>> {
    const action = this.#advance(this.#state.leave);
    if (action === "ignore") return doneResult;
    if (action === "wait, then leave") {
      await this.#beginning?.catch(() => undefined);
      return this.return();
    }
    try {
      await this.#transformer.source.return?.();
    } finally {
      this.#stop(false);
    }
    return doneResult;
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

  /** Goes to the next state. @returns the action to take */
  #advance<A>(step: Step<A, TransformState> | undefined): A {
    if (step === undefined) throw new ImpossibleEventError(this.#state.name);
    this.#state = step.next;
    return step.action;
  }

  /** @returns the result of the last transform in the chain for the next value, or a promise of it */
  #next(): unknown {
    switch (this.#advance(this.#state.ask)) {
      case "open":
        return this.#open();
      case "read":
        return this.#read();
      case "close the source and throw":
        return this.#giveLater(this.#fail(this.#failure, true));
      case "finish":
        return this.#give(this.#finish());
    }
  }

  async #open(): Promise<unknown> {
    const begin = async (): Promise<void> => void (this.#transformer = await this.#begin());
    this.#beginning = begin();
    try {
      await this.#beginning;
    } catch (error) {
      this.#advance(this.#state.unopened);
      return this.#giveLater(Promise.reject(error));
    } finally {
      this.#beginning = undefined;
    }
    this.#advance(this.#state.opened);
    return this.#read();
  }

  #read(): unknown {
    const transformer = this.#transformer;
    if (transformer.isDone?.() === true) {
      this.#advance(this.#state.enough);
      return this.#giveLater(this.#flush(true));
    }
    const { source } = transformer;
    if (!(source instanceof Transformed)) return source.next().then(this.#take, this.#takeFailure);
    source.#reader = this;
    return source.#next();
  }

  readonly #take = (result: Result<S>): unknown => (result.done ? this.#takeEnd() : this.#takeValue(result.value));

  #takeValue(value: S): unknown {
    if (this.#advance(this.#state.value) === "drop") return this.#give(doneResult);
    let made: T | undefined;
    try {
      made = this.#transformer.transform(value);
    } catch (error) {
      if (!(error instanceof FailedAfterError)) {
        this.#advance(this.#state.broken);
        return this.#giveLater(this.#fail(error, true));
      }
      this.#advance(this.#state.half);
      this.#failure = error.cause;
      made = error.made as T | undefined; // made by its own transform
    }
    if (made === undefined) return this.#next();
    const reader = this.#reader;
    return reader === undefined ? { done: false, value: made } : reader.#takeValue(made);
  }

  #takeEnd(): unknown {
    return this.#advance(this.#state.end) === "drop" ? this.#give(doneResult) : this.#giveLater(this.#flush(false));
  }

  readonly #takeFailure = (failure: unknown): unknown => {
    this.#advance(this.#state.failure);
    return this.#giveLater(this.#fail(failure, false));
  };

  /** Passes a result to the next transform in the chain. */
  #give(result: Result<T>): unknown {
    return this.#reader === undefined ? result : this.#reader.#take(result);
  }

  #giveLater(result: Promise<Result<T>>): unknown {
    return this.#reader === undefined ? result : result.then(this.#reader.#take, this.#reader.#takeFailure);
  }

  async #flush(isSourceOpen: boolean): Promise<Result<T>> {
    let last: T | undefined;
    try {
      if (isSourceOpen) await this.#transformer.source.return?.();
      last = await this.#transformer.flush?.();
    } catch (error) {
      this.#advance(this.#state.failure);
      return this.#fail(error, false);
    }
    return last === undefined ? this.#finish() : { done: false, value: last };
  }

  #finish(): Result<T> {
    this.#stop(true);
    return doneResult;
  }

  async #fail(failure: unknown, isSourceOpen: boolean): Promise<never> {
    const { source, explain } = this.#transformer;
    try {
      if (isSourceOpen) await source.return?.();
    } catch {
      // The first failure is the one that is thrown.
    }
    this.#stop(false, failure);
    throw explain ? await explain(failure) : failure;
  }

  #stop(isWhole: boolean, failure?: unknown): void {
    if (this.#advance(this.#state.stop) === "tell") this.#transformer.onEnd?.(isWhole, failure);
  }
}
