import { parentPort, workerData } from "node:worker_threads";
import { TemplateRefusal } from "../../prompt/render-prompt.ts";
import type { PromptRenderer, PromptRequest } from "../../prompt/render-prompt.ts";
import { openRenderer } from "./open-renderer.ts";

/** A rendered conversation. */
export interface Prompt {
  readonly tokens: number[];
  /** The prompt ends inside a thought that the model goes on with. */
  readonly opensInThought: boolean;
}

export interface PromptJob {
  readonly id: number;
  readonly request: PromptRequest;
}

export type PromptAnswer = { readonly id: number } & (
  | { readonly prompt: Prompt }
  | { readonly refusal: string }
  | { readonly error: string }
);

/** The entry of the worker thread: prompts are rendered and tokenized off the event loop that generates. */
async function work(modelFile: string): Promise<void> {
  const renderer = await openRenderer(modelFile);
  parentPort?.on("message", (job: PromptJob) => parentPort?.postMessage(answer(renderer, job)));
  parentPort?.postMessage("ready");
}

function answer(renderer: PromptRenderer, { id, request }: PromptJob): PromptAnswer {
  try {
    return { id, prompt: renderer.render(request) };
  } catch (error) {
    if (error instanceof TemplateRefusal) return { id, refusal: error.message };
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

// The thread is started with the path of the model file as its data.
await work(workerData as string);
