import { parentPort } from "node:worker_threads";
import { PromptTooLongError } from "./prompt-too-long.ts";
import { TemplateRefusalError } from "./render-prompt.ts";
import { parseJson } from "@parley/json-schema-grammar/json";
import type { PromptRequest } from "../engine.ts";
import type { Prompt, PromptRenderer } from "./render-prompt.ts";

export interface WantedPrompt {
  /** Its tools are JSON text, because their schemas may contain values that cannot be cloned to a thread (see `parseJson`). */
  readonly request: Omit<PromptRequest, "tools"> & { readonly tools: string };
  readonly maxTokens: number;
  /** Shared memory that becomes non-zero when the prompt is no longer needed. Absent: the prompt is always rendered. */
  readonly stop?: Int32Array;
}

export type PromptJob = { readonly id: number } & (WantedPrompt | { readonly text: string });

export type PromptAnswer = { readonly id: number } & (
  | { readonly prompt: Prompt }
  | { readonly count: number }
  | { readonly refusal: string }
  /** A lower bound of the prompt's tokens. */
  | { readonly tooLong: number }
  | { readonly error: string }
);

/** Serves the jobs of a worker thread: renders and tokenizes prompts. */
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
    // `PromptThreads` made this text from tools.
    const request = { ...job.request, tools: parseJson(job.request.tools) as PromptRequest["tools"] };
    return { id, prompt: renderer.render(request, { isStopped: () => isSet(stop), maxTokens }) };
  } catch (error) {
    if (error instanceof PromptTooLongError) return { id, tooLong: error.tokens };
    if (error instanceof TemplateRefusalError) return { id, refusal: error.message };
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
