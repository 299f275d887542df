import { IncompleteStreamError } from "./errors.ts";
import { askCaller } from "./retry-advice.ts";
import { isCut, isNamed } from "./whole-message.ts";
import type {
  ChatCompletionChunk,
  Choice,
  ChunkChoice,
  CollectedCompletion,
  FinishReason,
  TokenLogprob,
  ToolCall,
  ToolCallDelta,
} from "./types.ts";

/**
 * Collects the chunks of a stream into the completion that the same request would have returned without `stream`: every
 * choice with its text, reasoning, tool calls and log-probabilities, and the usage if it was asked for. `logprobs` of a
 * choice without any text is null. A choice that was cut has its text and calls up to there, without a call that had no name.
 * @throws {IncompleteStreamError} when the chunks are not those of a whole answer; whatever reading the stream throws
 */
export async function collect(
  chunks: AsyncIterable<ChatCompletionChunk> | Iterable<ChatCompletionChunk>,
): Promise<CollectedCompletion> {
  const drafts: Draft[] = [];
  const seen: ChatCompletionChunk[] = [];
  for await (const chunk of chunks) {
    seen.push(chunk);
    for (const choice of chunk.choices) add((drafts[choice.index] ??= newDraft()), choice);
  }
  const last = seen.at(-1);
  const choices = drafts.flatMap((draft, index) => toChoice(draft, index) ?? []);
  if (!last || choices.length === 0 || choices.length < drafts.length) {
    throw new IncompleteStreamError("The chunks end before every choice has, or a tool call has no id or name.", {
      retry: askCaller,
      chunks: seen,
    });
  }
  const { id, created, model, system_fingerprint, usage } = last;
  return { id, object: "chat.completion", created, model, choices, ...(usage && { usage }), system_fingerprint };
}

/** A choice while its chunks arrive. */
interface Draft {
  content: string;
  reasoning: string;
  readonly calls: ToolCall[];
  logprobs: TokenLogprob[] | undefined;
  finish: FinishReason | null;
}

const newDraft = (): Draft => ({ content: "", reasoning: "", calls: [], logprobs: undefined, finish: null });

/** Something in between may leave a member out, or make it null. */
function add(draft: Draft, { delta, logprobs, finish_reason }: Partial<ChunkChoice>): void {
  draft.content += delta?.content ?? "";
  draft.reasoning += delta?.reasoning ?? delta?.reasoning_content ?? "";
  if (logprobs?.content) (draft.logprobs ??= []).push(...logprobs.content);
  for (const { index, id, function: part } of (delta?.tool_calls ?? []) as readonly Partial<ToolCallDelta>[]) {
    const call = (draft.calls[index ?? 0] ??= { id: "", type: "function", function: { name: "", arguments: "" } });
    call.id ||= id ?? "";
    call.function.name ||= part?.name ?? "";
    call.function.arguments += part?.arguments ?? "";
  }
  draft.finish = finish_reason ?? draft.finish;
}

function toChoice({ content, reasoning, calls, logprobs, finish }: Draft, index: number): Choice | undefined {
  const named = calls.filter(isNamed); // leaves gaps out as well
  if (!finish || (named.length < calls.length && !isCut(finish))) return undefined;
  const hasCalls = named.length > 0;
  return {
    index,
    message: {
      role: "assistant",
      content: hasCalls && content === "" ? null : content,
      refusal: null,
      ...(hasCalls && { tool_calls: named }),
      ...(reasoning !== "" && { reasoning, reasoning_content: reasoning }),
    },
    logprobs: logprobs ? { content: logprobs } : null,
    finish_reason: finish,
  };
}
