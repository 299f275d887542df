import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { RequestRefused } from "../../child/serve.ts";
import type { PromptRequest } from "../../prompt/render-prompt.ts";
import type { Prompt, PromptAnswer, PromptJob } from "./prompt-worker.ts";

/** Conversations above this many bytes of JSON go to a thread of their own: 4 MiB take seconds to tokenize. */
const largeBytes = 256 * 1024;

/** The rendering of prompts, off the event loop that generates. */
export class Prompts {
  readonly #modelFile: string;
  readonly #ordinary: PromptThread;
  #large: Promise<PromptThread> | undefined;

  private constructor(modelFile: string, ordinary: PromptThread) {
    this.#modelFile = modelFile;
    this.#ordinary = ordinary;
  }

  /** Rejects with what the thread threw when it cannot load the vocabulary. */
  static async start(modelFile: string): Promise<Prompts> {
    return new Prompts(modelFile, await PromptThread.start(modelFile));
  }

  /** @throws {RequestRefused} when the model's template refuses the conversation */
  async render({ messages, tools, tool_choice, isThinking }: PromptRequest): Promise<Prompt> {
    const request = { messages, tools, tool_choice, isThinking };
    const isLarge = JSON.stringify(request).length > largeBytes;
    if (isLarge) this.#large ??= PromptThread.start(this.#modelFile);
    const thread = isLarge ? await this.#large : this.#ordinary;
    return (thread ?? this.#ordinary).render(request);
  }
}

class PromptThread {
  readonly #worker: Worker;
  readonly #open = new Map<number, { resolve: (prompt: Prompt) => void; reject: (error: Error) => void }>();
  #next = 0;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (answer: PromptAnswer) => this.#settle(answer));
  }

  static async start(modelFile: string): Promise<PromptThread> {
    const worker = new Worker(new URL("./prompt-worker.ts", import.meta.url), { workerData: modelFile });
    await once(worker, "message");
    // From here on a failure of the thread ends the process: the supervisor starts both anew.
    worker.on("error", (error) => {
      throw error;
    });
    return new PromptThread(worker);
  }

  render(request: PromptRequest): Promise<Prompt> {
    const job: PromptJob = { id: this.#next++, request };
    const { promise, resolve, reject } = Promise.withResolvers<Prompt>();
    this.#open.set(job.id, { resolve, reject });
    this.#worker.postMessage(job);
    return promise;
  }

  #settle(answer: PromptAnswer): void {
    const waiting = this.#open.get(answer.id);
    this.#open.delete(answer.id);
    if ("prompt" in answer) waiting?.resolve(answer.prompt);
    else if ("refusal" in answer) waiting?.reject(new RequestRefused(answer.refusal));
    else waiting?.reject(new Error(answer.error));
  }
}
