import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { ImpossibleEventError, move, rowsOf } from "../state-table.ts";
import type { Row, StateTable, Step } from "../state-table.ts";
import type { PromptAnswer, PromptJob, WantedPrompt } from "./prompt-worker.ts";
import { PromptTooLongError } from "./prompt-too-long.ts";
import { TemplateRefusalError } from "./render-prompt.ts";
import type { Prompt } from "./render-prompt.ts";

/** A thread died before it began this job. Another thread can do it. */
export class NotBegunError extends Error {
  override readonly name = "NotBegunError";
}

type State = "idle" | "working" | "dead" | "closed";
type Event = "job" | "answer" | "lastAnswer" | "exit" | "close";

/**
 * The actions and next states of a thread. An idle thread does not keep our process alive. Answers without a job are ignored. A
 * dead thread fails the job that killed it, and hands back the others and every later one. A closed thread ends by `close`.
 */
const table = {
  idle: {
    job: move("hold and send", "working"),
    answer: move("ignore", "idle"),
    exit: move("report the death", "dead"),
    close: move("terminate", "closed"),
  },
  working: {
    job: move("send", "working"),
    answer: move("settle", "working"),
    lastAnswer: move("settle and release", "idle"),
    exit: move("report the death", "dead"),
    close: move("terminate", "closed"),
  },
  dead: {
    job: move("hand back", "dead"),
    close: move("ignore", "dead"),
  },
  closed: {
    job: move("refuse", "closed"),
    answer: move("settle", "closed"),
    lastAnswer: move("settle", "closed"),
    exit: move("ignore", "closed"),
    close: move("terminate", "closed"),
  },
} satisfies StateTable<State, Event>;

export const states = rowsOf(table);

interface OpenJob {
  readonly settle: (answer: PromptAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** One thread that renders prompts and counts tokens, one job after the other. */
export class PromptThread {
  readonly #worker: Worker;
  /** By id, in the order in which the thread does them. */
  readonly #open = new Map<number, OpenJob>();
  #nextId = 0;
  #state: Row<typeof table> = states.idle;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (answer: PromptAnswer) => this.#takeAnswer(answer));
  }

  /** @param onDeath called when the thread has died @throws the error of a thread that cannot start */
  static async start(program: URL, model: string, onDeath: () => void): Promise<PromptThread> {
    const worker = new Worker(program, { workerData: model });
    await once(worker, "message");
    const thread = new PromptThread(worker);
    let reason = new Error("the thread that makes prompts has ended");
    worker.on("error", (error: Error) => (reason = error));
    worker.on("exit", () => {
      if (thread.#advance(thread.#state.exit) === "ignore") return;
      const [begun, ...others] = thread.#open.values();
      begun?.reject(reason);
      for (const { reject } of others) reject(new NotBegunError());
      onDeath();
    });
    worker.unref();
    return thread;
  }

  /**
   * @param wanted `stop` is shared memory that the thread reads. It may stop the work
   * @throws {TemplateRefusalError} when the model's template refuses the conversation
   * @throws {PromptTooLongError} for a prompt with more than `maxTokens`
   * @throws {NotBegunError} if the thread died before it began
   */
  async render(wanted: WantedPrompt): Promise<Prompt> {
    const answer = await this.#send({ id: this.#nextId++, ...wanted });
    if ("prompt" in answer) return answer.prompt;
    throw failureOf(answer);
  }

  /** As `render`. Settles when the thread is free again, even if the signal stopped the work. */
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

  /** Returns the number of tokens of a text. @throws {NotBegunError} if the thread died before it began */
  async countText(text: string): Promise<number> {
    const answer = await this.#send({ id: this.#nextId++, text });
    if ("count" in answer) return answer.count;
    throw failureOf(answer);
  }

  /** Ends the thread. Its open jobs fail. */
  async close(): Promise<void> {
    if (this.#advance(this.#state.close) === "ignore") return;
    await this.#worker.terminate();
    for (const { reject } of this.#open.values()) reject(new Error("the engine was closed"));
  }

  /** Goes to the next state. @returns the action to take */
  #advance<A>(step: Step<A, Row<typeof table>> | undefined): A {
    if (step === undefined) throw new ImpossibleEventError(this.#state.name);
    this.#state = step.next;
    return step.action;
  }

  #send(job: PromptJob): Promise<PromptAnswer> {
    const action = this.#advance(this.#state.job);
    if (action === "hand back") return Promise.reject(new NotBegunError());
    if (action === "refuse") return Promise.reject(new Error("the engine was closed"));
    const { promise, resolve, reject } = Promise.withResolvers<PromptAnswer>();
    if (action === "hold and send") this.#worker.ref();
    this.#open.set(job.id, { settle: resolve, reject });
    this.#worker.postMessage(job);
    return promise;
  }

  #takeAnswer(answer: PromptAnswer): void {
    const job = this.#open.get(answer.id);
    this.#open.delete(answer.id);
    const isLast = job !== undefined && this.#open.size === 0;
    const action = this.#advance(isLast ? this.#state.lastAnswer : this.#state.answer);
    if (action === "settle and release") this.#worker.unref();
    job?.settle(answer);
  }
}

function failureOf(answer: PromptAnswer): Error {
  if ("tooLong" in answer) return new PromptTooLongError(answer.tooLong);
  if ("refusal" in answer) return new TemplateRefusalError(answer.refusal);
  return new Error("error" in answer ? answer.error : "the thread that makes prompts answered something else");
}
