import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { FairQueue } from "@parley/common/fair-queue";
import type { PromptAnswer, PromptJob, WantedPrompt } from "./prompt-worker.ts";
import { PromptTooLongError, TemplateRefusalError } from "./render-prompt.ts";
import type { PromptRequest } from "../engine.ts";
import { charactersIn } from "./characters-in.ts";
import type { Prompt, PromptRenderer } from "./render-prompt.ts";

/**
 * Tokenizing a text cannot be interrupted, so each size class has its own thread: a long text never delays a much shorter one.
 * Sizes are in characters. The longest texts of the classes take some hundredths of a second, some tenths, and a second.
 */
const sizes = [
  { size: "short", maxCharacters: 16 * 1024, jobsAtATime: 2 }, // one runs, and the next one is ready
  { size: "long", maxCharacters: 256 * 1024, jobsAtATime: 1 },
  { size: "huge", maxCharacters: Number.POSITIVE_INFINITY, jobsAtATime: 1 },
] as const;

/** Prompts of up to this many characters are not stopped, because they take only a few milliseconds. */
const maxUnstopped = 4096;

/**
 * A prompt of up to this many characters is rendered without a thread. That takes about half a millisecond, hardly more than
 * sending it to a thread.
 */
const maxAtOnce = 1024;

type Size = (typeof sizes)[number]["size"];

export interface PromptThreadOptions {
  /** The program of the threads, whose last statement calls `servePrompts`. */
  readonly program: URL;
  /** Passed to the program as its `workerData`. */
  readonly model: string;
  /** Renders the shortest prompts on the event loop. Absent in a process whose event loop has no time for them. */
  readonly here?: PromptRenderer;
}

/** The key that a prompt is for, and the signal that aborts when the result is no longer needed. */
export interface PromptOwner {
  readonly keyId: string;
  readonly signal: AbortSignal;
}

/**
 * Renders prompts in worker threads to keep the event loop free. Very short prompts are rendered at once. In each thread, keys
 * take turns.
 */
export class PromptThreads {
  readonly #options: PromptThreadOptions;
  readonly #threads = new Map<Size, Promise<PromptThread>>();
  readonly #queues = new Map(sizes.map(({ size, jobsAtATime }) => [size, new FairQueue(jobsAtATime)]));
  /** Keeps the prompt of a request between counting and generating, as long as its messages are in memory. */
  readonly #cache = new WeakMap<PromptRequest["messages"], CachedPrompt>();

  private constructor(options: PromptThreadOptions) {
    this.#options = options;
  }

  /**
   * Starts the first thread, unless short prompts are rendered on the event loop. Rejects with the thread's error if it cannot
   * load the vocabulary.
   */
  static async start(options: PromptThreadOptions): Promise<PromptThreads> {
    const threads = new PromptThreads(options);
    if (!options.here) await threads.#threadFor("short");
    return threads;
  }

  /**
   * Returns the number of tokens of a prompt. It is exact up to `maxTokens`. A larger result is a lower bound.
   * @throws as `render` does
   */
  async count(request: PromptRequest, signal: AbortSignal, maxTokens: number): Promise<number> {
    try {
      const prompt = await this.#find(request, signal, maxTokens);
      this.#cache.set(request.messages, { request, prompt });
      return prompt.tokens.length;
    } catch (error) {
      if (error instanceof PromptTooLongError) return error.tokens;
      throw error;
    }
  }

  /**
   * Returns the prompt to generate from. A prompt that was counted is not rendered again.
   * @throws {TemplateRefusalError} when the model's template refuses the conversation
   * @throws the signal's reason when it aborts first
   */
  async render(request: PromptRequest, signal: AbortSignal): Promise<Prompt> {
    const prompt = await this.#find(request, signal, Number.POSITIVE_INFINITY);
    // The messages stay in memory until the answer ends, but the tokens are no longer needed.
    this.#cache.delete(request.messages);
    return prompt;
  }

  /** @throws as `render` does, or {PromptTooLongError} where the prompt has more than `maxTokens` */
  async #find(whole: PromptRequest, signal: AbortSignal, maxTokens: number): Promise<Prompt> {
    const { messages, tools, toolChoice, shownSchema, isReasoning, origin } = whole;
    const request = { messages, tools, toolChoice, shownSchema, isReasoning };
    const cached = this.#cache.get(messages);
    if (cached && isSame(cached.request, request)) return cached.prompt;
    return this.#make(request, { keyId: origin?.key ?? "", signal }, maxTokens);
  }

  async #make(request: PromptRequest, owner: PromptOwner, maxTokens: number): Promise<Prompt> {
    const { signal } = owner;
    const characters = charactersIn(request);
    const here = this.#hereFor(characters);
    if (here) return here.render(request, { maxTokens });
    return this.#run(characters, owner, async (thread) => {
      signal.throwIfAborted();
      const wanted = { request: { ...request, tools: JSON.stringify(request.tools) }, maxTokens };
      return characters <= maxUnstopped ? thread.render(wanted) : thread.renderUnless(signal, wanted);
    });
  }

  /** Returns the number of tokens of a text that an engine has written. @throws the signal's reason when it aborts first */
  async countText(text: string, owner: PromptOwner): Promise<number> {
    const here = this.#hereFor(text.length);
    return here ? here.countText(text) : this.#run(text.length, owner, (thread) => thread.countText(text));
  }

  #hereFor(characters: number): PromptRenderer | undefined {
    return characters <= maxAtOnce ? this.#options.here : undefined;
  }

  async close(): Promise<void> {
    const started = await Promise.allSettled(this.#threads.values());
    const threads = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    await Promise.all(threads.map((thread) => thread.close()));
  }

  async #run<T>(
    characters: number,
    { keyId, signal }: PromptOwner,
    work: (thread: PromptThread) => Promise<T>,
  ): Promise<T> {
    const size = sizes.find(({ maxCharacters }) => characters <= maxCharacters)?.size ?? "huge";
    const queue = this.#queues.get(size);
    if (!queue) throw new RangeError(`prompts that are ${size} have no queue`);
    const runInThread = async (): Promise<T> => {
      try {
        return await work(await this.#threadFor(size));
      } catch (error) {
        if (error instanceof NotBegunError) return runInThread();
        throw error;
      }
    };
    return queue.run({ keyId, cost: characters }, signal, runInThread);
  }

  /** Returns the thread of a size. A dead thread is replaced. */
  #threadFor(size: Size): Promise<PromptThread> {
    const running = this.#threads.get(size);
    if (running) return running;
    const { program, model } = this.#options;
    const started = PromptThread.start(program, model, () => this.#threads.delete(size));
    started.catch(() => this.#threads.delete(size));
    this.#threads.set(size, started);
    return started;
  }
}

interface CachedPrompt {
  readonly request: Omit<PromptRequest, "origin">;
  readonly prompt: Prompt;
}

/** Compares by identity: requests are never changed, so the same object has the same contents. */
const isSame = (one: CachedPrompt["request"], other: CachedPrompt["request"]): boolean =>
  one.tools === other.tools &&
  one.toolChoice === other.toolChoice &&
  one.shownSchema === other.shownSchema &&
  one.isReasoning === other.isReasoning;

/** A thread died during an earlier prompt, before it began this one. */
class NotBegunError extends Error {
  override readonly name = "NotBegunError";
}

class PromptThread {
  readonly #worker: Worker;
  readonly #open = new Map<number, { settle: (answer: PromptAnswer) => void; reject: (error: Error) => void }>();
  #next = 0;
  #isClosed = false;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (answer: PromptAnswer) => this.#settle(answer));
  }

  static async start(program: URL, model: string, onDeath: () => void): Promise<PromptThread> {
    const worker = new Worker(program, { workerData: model });
    await once(worker, "message");
    const thread = new PromptThread(worker);
    let reason = new Error("the thread that makes prompts has ended");
    worker.on("error", (error: Error) => (reason = error));
    worker.on("exit", () => {
      if (thread.#isClosed) return;
      const [begun, ...others] = thread.#open.values();
      begun?.reject(reason);
      for (const { reject } of others) reject(new NotBegunError());
      onDeath();
    });
    worker.unref();
    return thread;
  }

  async render(wanted: WantedPrompt): Promise<Prompt> {
    const answer = await this.#send({ id: this.#next++, ...wanted });
    if ("prompt" in answer) return answer.prompt;
    throw failureOf(answer);
  }

  /** Returns a promise that settles when the thread is free again, even if the signal stopped the work. */
  async renderUnless(signal: AbortSignal, wanted: WantedPrompt): Promise<Prompt> {
    const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const abort = (): void => void Atomics.store(stop, 0, 1);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await this.render({ ...wanted, stop });
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async countText(text: string): Promise<number> {
    const answer = await this.#send({ id: this.#next++, text });
    if ("count" in answer) return answer.count;
    throw failureOf(answer);
  }

  #send(job: PromptJob): Promise<PromptAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<PromptAnswer>();
    if (this.#open.size === 0) this.#worker.ref();
    this.#open.set(job.id, { settle: resolve, reject });
    this.#worker.postMessage(job);
    return promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker.terminate();
    for (const { reject } of this.#open.values()) reject(new Error("the engine was closed"));
  }

  #settle(answer: PromptAnswer): void {
    const waiting = this.#open.get(answer.id);
    this.#open.delete(answer.id);
    if (this.#open.size === 0) this.#worker.unref();
    waiting?.settle(answer);
  }
}

function failureOf(answer: PromptAnswer): Error {
  if ("tooLong" in answer) return new PromptTooLongError(answer.tooLong);
  if ("refusal" in answer) return new TemplateRefusalError(answer.refusal);
  return new Error("error" in answer ? answer.error : "the thread that makes prompts answered something else");
}
