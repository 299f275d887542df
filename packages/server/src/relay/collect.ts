import type { components } from "../generated/contract.ts";
import type { Chunk, Usage } from "./to-chunks.ts";

export type Completion = components["schemas"]["ChatCompletion"];
type Choice = Completion["choices"][number];
type ToolCall = NonNullable<Choice["message"]["tool_calls"]>[number];

/** A choice while its deltas are collected. */
interface Draft {
  text: string;
  reasoning: string;
  readonly calls: ToolCall[];
  readonly logprobs: NonNullable<NonNullable<Choice["logprobs"]>["content"]>;
  finish: Choice["finish_reason"] | undefined;
}

/** Collects a stream into one completion. The last chunk carries the usage. */
export async function collect(chunks: AsyncIterable<Chunk>, hasLogprobs: boolean): Promise<Completion> {
  const drafts: Draft[] = [];
  let last: Chunk | undefined;
  for await (const chunk of chunks) {
    last = chunk;
    for (const choice of chunk.choices) add((drafts[choice.index] ??= emptyDraft()), choice);
  }
  if (!last?.usage) throw new Error("a stream ended without its usage");
  const { id, created, model, system_fingerprint } = last;
  const choices = drafts.map((draft, index) => toChoice(draft, index, hasLogprobs));
  const usage: Usage = last.usage;
  return { id, object: "chat.completion", created, model, choices, usage, system_fingerprint };
}

const emptyDraft = (): Draft => ({ text: "", reasoning: "", calls: [], logprobs: [], finish: undefined });

function add(draft: Draft, { delta, logprobs, finish_reason }: Chunk["choices"][number]): void {
  draft.text += delta.content ?? "";
  draft.reasoning += delta.reasoning ?? "";
  draft.logprobs.push(...(logprobs?.content ?? []));
  for (const call of delta.tool_calls ?? []) addCall(draft.calls, call);
  draft.finish = finish_reason ?? draft.finish;
}

function addCall(calls: ToolCall[], delta: NonNullable<Chunk["choices"][number]["delta"]["tool_calls"]>[number]): void {
  const call = calls[delta.index];
  const text = delta.function?.arguments ?? "";
  if (call) call.function.arguments += text;
  else
    calls[delta.index] = {
      id: delta.id ?? "",
      type: "function",
      function: { name: delta.function?.name ?? "", arguments: text },
    };
}

function toChoice(draft: Draft, index: number, hasLogprobs: boolean): Choice {
  const { text, reasoning, calls, logprobs, finish } = draft;
  if (!finish) throw new Error("a stream ended before a choice was finished");
  return {
    index,
    message: {
      role: "assistant",
      content: calls.length > 0 && text === "" ? null : text,
      refusal: null,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(reasoning !== "" && { reasoning, reasoning_content: reasoning }),
    },
    logprobs: hasLogprobs ? { content: logprobs } : null,
    finish_reason: finish,
  };
}
