import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { PromptAnswer, PromptJob } from "./prompt-worker.ts";
import { TemplateRefusal } from "./render-prompt.ts";
import type { PromptRequest } from "../engine.ts";
import type { Prompt } from "./render-prompt.ts";

/** Larger conversations are rendered in a second thread, in bytes of JSON: tokenizing 4 MiB takes seconds. */
const largeBytes = 256 * 1024;

export interface PromptThreadOptions {
  /** The program of the threads, whose last statement calls `servePrompts`. */
  readonly program: URL;
  /** Passed to the program as its `workerData`. */
  readonly model: string;
  /** Called when a thread that had started has died. */
  readonly onDeath: (error: Error) => void;
}

/** Renders prompts in worker threads, so that the event loop stays free for generation. */
export class PromptThreads {
  readonly #options: PromptThreadOptions;
  readonly #threads = new Map<"ordinary" | "large", Promise<PromptThread>>();
  /** A request is counted first and generated afterwards, so its prompt is kept for as long as its messages are in memory. */
  readonly #cache = new WeakMap<PromptRequest["messages"], CachedPrompt>();

  private constructor(options: PromptThreadOptions) {
    this.#options = options;
  }

  /** Rejects with what the thread threw when it cannot load the vocabulary. */
  static async start(options: PromptThreadOptions): Promise<PromptThreads> {
    const threads = new PromptThreads(options);
    await threads.#threadFor("ordinary");
    return threads;
  }

  /** @throws {TemplateRefusal} when the model's template refuses the conversation */
  async render({ messages, tools, tool_choice, shownSchema, isReasoning }: PromptRequest): Promise<Prompt> {
    const request = { messages, tools, tool_choice, shownSchema, isReasoning };
    const cached = this.#cache.get(messages);
    if (cached && isSame(cached.request, request)) return cached.prompt;
    const isLarge = JSON.stringify(request).length > largeBytes;
    const thread = await this.#threadFor(isLarge ? "large" : "ordinary");
    const prompt = await thread.render(request);
    this.#cache.set(messages, { request, prompt });
    return prompt;
  }

  /** The number of tokens of a text that an engine has written. */
  async countText(text: string): Promise<number> {
    const thread = await this.#threadFor(text.length > largeBytes ? "large" : "ordinary");
    return thread.countText(text);
  }

  async close(): Promise<void> {
    const started = await Promise.allSettled(this.#threads.values());
    const threads = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    await Promise.all(threads.map((thread) => thread.close()));
  }

  /** A thread that has died is restarted for the next prompt. */
  #threadFor(kind: "ordinary" | "large"): Promise<PromptThread> {
    const running = this.#threads.get(kind);
    if (running) return running;
    const { program, model, onDeath } = this.#options;
    const started = PromptThread.start(program, model, (error) => {
      this.#threads.delete(kind);
      onDeath(error);
    });
    started.catch(() => this.#threads.delete(kind));
    this.#threads.set(kind, started);
    return started;
  }
}

interface CachedPrompt {
  readonly request: PromptRequest;
  readonly prompt: Prompt;
}

/** Requests are never changed, so the same object has the same contents. */
const isSame = (one: PromptRequest, other: PromptRequest): boolean =>
  one.tools === other.tools &&
  one.tool_choice === other.tool_choice &&
  one.shownSchema === other.shownSchema &&
  one.isReasoning === other.isReasoning;

class PromptThread {
  readonly #worker: Worker;
  readonly #open = new Map<number, { settle: (answer: PromptAnswer) => void; reject: (error: Error) => void }>();
  #next = 0;
  #isClosed = false;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (answer: PromptAnswer) => this.#settle(answer));
  }

  static async start(program: URL, model: string, onDeath: (error: Error) => void): Promise<PromptThread> {
    const worker = new Worker(program, { workerData: model });
    await once(worker, "message");
    const thread = new PromptThread(worker);
    let reason = new Error("the thread that makes prompts has ended");
    worker.on("error", (error: Error) => (reason = error));
    worker.on("exit", () => {
      if (thread.#isClosed) return;
      thread.#failAll(reason);
      onDeath(reason);
    });
    worker.unref();
    return thread;
  }

  async render(request: PromptRequest): Promise<Prompt> {
    const answer = await this.#send({ id: this.#next++, request });
    if ("prompt" in answer) return answer.prompt;
    throw failureOf(answer);
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
    this.#failAll(new Error("the engine was closed"));
  }

  #settle(answer: PromptAnswer): void {
    const waiting = this.#open.get(answer.id);
    this.#open.delete(answer.id);
    if (this.#open.size === 0) this.#worker.unref();
    waiting?.settle(answer);
  }

  #failAll(error: Error): void {
    for (const { reject } of this.#open.values()) reject(error);
    this.#open.clear();
  }
}

function failureOf(answer: PromptAnswer): Error {
  if ("refusal" in answer) return new TemplateRefusal(answer.refusal);
  return new Error("error" in answer ? answer.error : "the thread that makes prompts answered something else");
}
