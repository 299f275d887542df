import { parentPort } from "node:worker_threads";
import { PromptTooLongError, TemplateRefusalError } from "./render-prompt.ts";
import { parseJson } from "../json/parse-json.ts";
import type { PromptRequest } from "../engine.ts";
import type { Prompt, PromptRenderer } from "./render-prompt.ts";

export interface WantedPrompt {
  /** Its tools are text, because their schemas may hold what cannot be cloned to a thread (see `parseJson`). */
  readonly request: Omit<PromptRequest, "tools"> & { readonly tools: string };
  readonly maxTokens: number;
  /** Shared memory: not 0 once nobody waits for the prompt any more. Absent: the prompt is always made. */
  readonly stop?: Int32Array;
}

export type PromptJob = { readonly id: number } & (WantedPrompt | { readonly text: string });

export type PromptAnswer = { readonly id: number } & (
  | { readonly prompt: Prompt }
  | { readonly count: number }
  | { readonly refusal: string }
  /** The prompt has at least so many tokens. */
  | { readonly tooLong: number }
  | { readonly error: string }
);

/** Serves the jobs of a worker thread: prompts are rendered and tokenized here. */
export function servePrompts(renderer: PromptRenderer): void {
  parentPort?.on("message", (job: PromptJob) => parentPort?.postMessage(answer(renderer, job)));
  parentPort?.postMessage("ready");
}

const isSet = (stop: Int32Array | undefined): boolean => stop !== undefined && Atomics.load(stop, 0) !== 0;

function answer(renderer: PromptRenderer, job: PromptJob): PromptAnswer {
  const { id } = job;
  try {
    if ("text" in job) return { id, count: renderer.countText(job.text) };
    const { stop, maxTokens } = job;
    // The text was made of tools.
    const request = { ...job.request, tools: parseJson(job.request.tools) as PromptRequest["tools"] };
    return { id, prompt: renderer.render(request, { isStopped: () => isSet(stop), maxTokens }) };
  } catch (error) {
    if (error instanceof PromptTooLongError) return { id, tooLong: error.tokens };
    if (error instanceof TemplateRefusalError) return { id, refusal: error.message };
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
