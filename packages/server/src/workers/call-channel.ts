import { fromCarried, toCarried } from "./carry-error.ts";

/** One end of a connection to another process. It keeps the order of messages, and copies them as `structuredClone` does. */
export interface MessageEnd {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
}

/** The methods that another process may call on an object of this one. Both processes use the same value. */
export interface Calls<T> {
  /** The name of the object, unique on a channel. */
  readonly name: string;
  readonly methods: readonly (keyof T & string)[];
  /** Those of the methods that are not answered: their promise resolves at once. */
  readonly oneWay: readonly string[];
}

type Act = (...args: never[]) => unknown;

/** The object in the other process: every method answers a promise, and rejects with the error of the other process. */
export type Remote<T, Name extends keyof T> = {
  readonly [Method in Name]: T[Method] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/** Describes the methods of an object that may be called. */
export const callsOf =
  <T>() =>
  <const Name extends keyof T & string>(
    name: string,
    methods: readonly Name[],
    oneWay: readonly Name[] = [],
  ): Calls<Pick<T, Name>> => ({ name, methods, oneWay });

interface Call {
  /** 0: no answer is wanted. */
  readonly id: number;
  readonly object: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: unknown;
}

/** One message to the other process. It has all calls and answers of one round of the event loop. */
interface Batch {
  readonly calls: readonly Call[];
  readonly answers: readonly Answer[];
}

/** The other process has ended, so its answer will never come. */
class ChannelEndedError extends Error {
  override readonly name = "ChannelEndedError";
}

/** Calls between two processes, in both directions. The calls of one round of the event loop travel in one message. */
export class CallChannel {
  readonly #end: MessageEnd;
  readonly #objects = new Map<string, ReadonlyMap<string, Act>>();
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #calls: Call[] = [];
  #answers: Answer[] = [];
  #lastId = 0;
  #isScheduled = false;
  #isOver = false;

  constructor(end: MessageEnd) {
    this.#end = end;
    // Only this class writes to the other end.
    end.onMessage((message) => this.#take(message as Batch));
  }

  /** Lets the other process call these methods of an object. */
  expose<T>({ name, methods }: Calls<T>, object: T): void {
    const acts = methods.map((method) => {
      const act = object[method];
      if (typeof act !== "function") throw new TypeError(`${name}.${method} is not a method`);
      return [method, act.bind(object) as Act] as const; // checked above
    });
    this.#objects.set(name, new Map(acts));
  }

  /** Returns the object of this name in the other process. */
  remote<T>({ name, methods, oneWay }: Calls<T>): Remote<T, keyof T> {
    const entries = methods.map((method) => {
      const call = oneWay.includes(method)
        ? async (...args: unknown[]) => this.#push({ id: 0, object: name, method, args })
        : (...args: unknown[]) => this.#ask(name, method, args);
      return [method, call];
    });
    return Object.fromEntries(entries) as Remote<T, keyof T>; // it has exactly these methods
  }

  /** Must be called when the other process has ended. Calls without an answer reject. */
  end(): void {
    this.#isOver = true;
    for (const { reject } of this.#waiting.values()) reject(ended());
    this.#waiting.clear();
  }

  #ask(object: string, method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#isOver) return Promise.reject(ended());
    this.#lastId += 1;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(this.#lastId, answer);
    this.#push({ id: this.#lastId, object, method, args });
    return answer.promise;
  }

  #push(call: Call): void {
    this.#calls.push(call);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#send());
  }

  #send(): void {
    this.#isScheduled = false;
    const batch: Batch = { calls: this.#calls, answers: this.#answers };
    this.#calls = [];
    this.#answers = [];
    if (!this.#isOver) this.#end.send(batch);
  }

  #take({ calls, answers }: Batch): void {
    for (const { id, value, error } of answers) {
      const answer = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) answer?.resolve(value);
      else answer?.reject(fromCarried(error));
    }
    for (const call of calls) void this.#run(call);
  }

  async #run({ id, object, method, args }: Call): Promise<void> {
    let answer: Answer;
    try {
      const act = this.#objects.get(object)?.get(method);
      if (!act) throw new Error(`this process has no ${object}.${method}`);
      // The other process calls with the types of the method.
      answer = { id, value: await act(...(args as never[])) };
    } catch (error) {
      answer = { id, error: toCarried(error) };
    }
    if (id === 0) return;
    this.#answers.push(answer);
    this.#schedule();
  }
}

const ended = (): Error => new ChannelEndedError("the other process of this server has ended");
