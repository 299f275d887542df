import { IncompleteStreamError } from "./errors.ts";
import { askCaller } from "./retry-advice.ts";
import type {
  ChatCompletion,
  ChatCompletionChunk,
  Choice,
  ChunkChoice,
  FinishReason,
  TokenLogprob,
  ToolCall,
} from "./types.ts";

/** A {@link ChatCompletion} made of chunks. `usage` is there only if `stream_options.include_usage` asked for it. */
export type CollectedCompletion = Omit<ChatCompletion, "usage"> & Partial<Pick<ChatCompletion, "usage">>;

/**
 * Collects the chunks of a stream into the completion that the same request would have returned without `stream`: every
 * choice with its text, reasoning, tool calls and log-probabilities, and the usage if it was asked for. `logprobs` of a
 * choice without any text is null.
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
    throw new IncompleteStreamError("The chunks end before every choice has.", { retry: askCaller, chunks: seen });
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

function add(draft: Draft, { delta, logprobs, finish_reason }: ChunkChoice): void {
  draft.content += delta.content ?? "";
  draft.reasoning += delta.reasoning ?? "";
  if (logprobs) (draft.logprobs ??= []).push(...logprobs.content);
  for (const { index, id = "", function: part } of delta.tool_calls ?? []) {
    const call = (draft.calls[index] ??= { id, type: "function", function: { name: part.name ?? "", arguments: "" } });
    call.function.arguments += part.arguments;
  }
  draft.finish = finish_reason ?? draft.finish;
}

function toChoice({ content, reasoning, calls, logprobs, finish }: Draft, index: number): Choice | undefined {
  if (!finish) return undefined;
  const hasCalls = calls.length > 0;
  return {
    index,
    message: {
      role: "assistant",
      content: hasCalls && content === "" ? null : content,
      refusal: null,
      ...(hasCalls && { tool_calls: calls }),
      ...(reasoning !== "" && { reasoning, reasoning_content: reasoning }),
    },
    logprobs: logprobs ? { content: logprobs } : null,
    finish_reason: finish,
  };
}
