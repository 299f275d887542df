import { DatabaseError } from "pg";

interface Call<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum number of calls in one statement. */
const maxCalls = 100;

/**
 * Groups calls about one key into statements, because a commit takes longer than most changes, and the changes of one key
 * wait for each other in the database anyway. A call is sent at once if no statement of its key is running. Calls that come
 * meanwhile share the next statement. Statements of different keys run side by side, so a key never waits for another one,
 * and no statement locks the rows of two keys.
 */
export class CallGroups<Item, Result> {
  readonly #send: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** The waiting calls of each key that has a running statement. */
  readonly #waiting = new Map<string, Call<Item, Result>[]>();

  /** @param send runs one statement for all items, which changes everything or nothing, and returns a result for each item */
  constructor(send: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#send = send;
  }

  /**
   * Rejects when the statement fails. If it failed because of the values of one call, only that call rejects. After any other
   * failure the waiting calls of the key reject, too, so none of them waits for a second timeout.
   */
  call(keyId: string, item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const call = { item, resolve, reject };
    const waiting = this.#waiting.get(keyId);
    if (waiting) waiting.push(call);
    else void this.#run(keyId, [call]);
    return promise;
  }

  async #run(keyId: string, waiting: Call<Item, Result>[]): Promise<void> {
    this.#waiting.set(keyId, waiting);
    while (waiting.length > 0) {
      const calls = waiting.splice(0, maxCalls);
      try {
        await this.#sendCalls(calls);
      } catch (error) {
        for (const { reject } of [...calls, ...waiting.splice(0)]) reject(error);
      }
    }
    this.#waiting.delete(keyId);
  }

  /** @throws the error of a statement that failed for a reason that concerns all calls */
  async #sendCalls(calls: readonly Call<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#send(calls.map(({ item }) => item));
      for (const [index, result] of results.entries()) calls[index]?.resolve(result);
    } catch (error) {
      if (!isFaultOfValues(error)) throw error;
      if (calls.length === 1) calls[0]?.reject(error);
      else for (const call of calls) await this.#sendCalls([call]);
    }
  }
}

/** Returns true for the errors of the classes 22 and 23: data that PostgreSQL refuses, such as an id that exists already. */
const isFaultOfValues = (error: unknown): boolean => error instanceof DatabaseError && /^2[23]/.test(error.code ?? "");
