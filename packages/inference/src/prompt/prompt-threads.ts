import { FairQueue } from "@parley/common/fair-queue";
import { NotBegunError, PromptThread } from "./prompt-thread.ts";
import type { PromptRequest } from "../engine.ts";
import { charactersIn } from "./characters-in.ts";
import type { Prompt, PromptRenderer } from "./render-prompt.ts";

/**
 * A prompt of up to this many characters is rendered without a thread. That takes about half a millisecond, hardly more than
 * sending it to a thread.
 */
const maxAtOnce = 1024;

/**
 * The way of every longer text: the first row that has room for its characters. Tokenizing a text cannot be interrupted, so each
 * size class has its own thread, and a long text never delays a much shorter one. The longest texts of the classes take some
 * hundredths of a second, some tenths, and a second. The shortest take a few milliseconds, so they are not stopped when their
 * caller leaves.
 */
const routes = [
  { maxCharacters: 4 * 1024, size: "short", isStoppable: false },
  { maxCharacters: 16 * 1024, size: "short", isStoppable: true },
  { maxCharacters: 256 * 1024, size: "long", isStoppable: true },
] as const;

const longestRoute = { size: "huge", isStoppable: true } as const;

type Size = "short" | "long" | "huge";

interface Route {
  readonly size: Size;
  readonly isStoppable: boolean;
}

/** Returns the thread for a text of this many characters, and tells if its work can be stopped. */
export const routeOf = (characters: number): Route =>
  routes.find(({ maxCharacters }) => characters <= maxCharacters) ?? longestRoute;

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
  /** One job of the short thread runs, and the next one is ready. */
  readonly #queues = { short: new FairQueue(2), long: new FairQueue(1), huge: new FairQueue(1) };

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
   * Renders a prompt.
   * @throws {TemplateRefusalError} when the model's template refuses the conversation
   * @throws {PromptTooLongError} where the prompt has more than `maxTokens`
   * @throws the signal's reason when it aborts first
   */
  async render(whole: PromptRequest, signal: AbortSignal, maxTokens = Number.POSITIVE_INFINITY): Promise<Prompt> {
    // The other members of a request may be long, and need not be sent to a thread.
    const { messages, tools, toolChoice, shownSchema, isReasoning, origin } = whole;
    const request = { messages, tools, toolChoice, shownSchema, isReasoning };
    const characters = charactersIn(request);
    const here = this.#hereFor(characters);
    if (here) return here.render(request, { maxTokens });
    const { size, isStoppable } = routeOf(characters);
    return this.#run(size, characters, { keyId: origin?.key ?? "", signal }, async (thread) => {
      signal.throwIfAborted();
      const wanted = { request: { ...request, tools: JSON.stringify(request.tools) }, maxTokens };
      return isStoppable ? thread.renderUnless(signal, wanted) : thread.render(wanted);
    });
  }

  /** Returns the number of tokens of a text that an engine has written. @throws the signal's reason when it aborts first */
  async countText(text: string, owner: PromptOwner): Promise<number> {
    const here = this.#hereFor(text.length);
    if (here) return here.countText(text);
    return this.#run(routeOf(text.length).size, text.length, owner, (thread) => thread.countText(text));
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
    size: Size,
    characters: number,
    { keyId, signal }: PromptOwner,
    work: (thread: PromptThread) => Promise<T>,
  ): Promise<T> {
    const runInThread = async (): Promise<T> => {
      try {
        return await work(await this.#threadFor(size));
      } catch (error) {
        if (error instanceof NotBegunError) return runInThread();
        throw error;
      }
    };
    return this.#queues[size].run({ keyId, cost: characters }, signal, runInThread);
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
