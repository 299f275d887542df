import { IncompleteStreamError, MalformedResponseError } from "./errors.ts";
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
 * choice with its text, reasoning, tool calls and log-probabilities, and the usage if the request asked for it. `logprobs`
 * of a choice without any text is null. A choice that was cut has its text and calls up to the cut. A last call that has no
 * name yet is left out.
 * @throws {IncompleteStreamError} when the chunks do not make a complete answer; {MalformedResponseError} when a piece of
 *   text is not a string; every error of reading the stream
 */
export async function collect(
  chunks: AsyncIterable<ChatCompletionChunk> | Iterable<ChatCompletionChunk>,
): Promise<CollectedCompletion> {
  const drafts: Draft[] = [];
  const seen: ChatCompletionChunk[] = [];
  for await (const chunk of chunks) {
    seen.push(chunk);
    for (const choice of chunk.choices) {
      if (!isObject(choice)) continue;
      const draft = (drafts[place(choice.index)] ??= {
        content: "",
        refusal: "",
        reasoning: "",
        calls: [],
        logprobs: undefined,
        finish: null,
      });
      add(draft, choice);
    }
  }
  const last = seen.at(-1);
  const choices = drafts.flatMap((draft, index) => toChoice(draft, index) ?? []);
  if (!last || choices.length === 0 || choices.length < drafts.length) {
    throw new IncompleteStreamError("A choice has not ended, or has a tool call without an id or a name.", {
      chunks: seen,
    });
  }
  const { id, created, model, system_fingerprint, usage } = last;
  return { id, object: "chat.completion", created, model, choices, ...(usage && { usage }), system_fingerprint };
}

/** A choice while its chunks arrive. */
interface Draft {
  content: string;
  refusal: string;
  reasoning: string;
  readonly calls: ToolCall[];
  logprobs: TokenLogprob[] | undefined;
  finish: FinishReason | null;
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

/** Returns a piece of text, empty where it is left out. @throws {MalformedResponseError} for something else */
function textOf(piece: unknown): string {
  const text = piece ?? "";
  return typeof text === "string" ? text : refuse();
}

/** Returns an index. A list with a far one would have as many gaps. @throws {MalformedResponseError} */
const place = (index: number): number => (index >= 0 && index < 1000 ? index : refuse());

function refuse(): never {
  throw new MalformedResponseError("An event of the stream is not a chunk.", {});
}

/** Adds a chunk's part to the draft. Members may be absent or null, because a gateway may have rewritten the stream. */
function add(draft: Draft, { delta, logprobs, finish_reason }: Partial<ChunkChoice>): void {
  draft.content += textOf(delta?.content);
  // The contract has no refusals in a stream, but a gateway may add one.
  draft.refusal += textOf((delta as { readonly refusal?: unknown } | undefined)?.refusal);
  draft.reasoning += textOf(delta?.reasoning ?? delta?.reasoning_content);
  if (logprobs?.content) (draft.logprobs ??= []).push(...logprobs.content);
  const pieces = (delta?.tool_calls ?? []) as readonly Partial<ToolCallDelta>[];
  for (const { index, id, function: part } of pieces.filter(isObject)) {
    const call = (draft.calls[place(index ?? 0)] ??= {
      id: "",
      type: "function",
      function: { name: "", arguments: "" },
    });
    call.id ||= textOf(id);
    call.function.name ||= textOf(part?.name);
    call.function.arguments += textOf(part?.arguments);
  }
  draft.finish = finish_reason ?? draft.finish;
}

function toChoice({ content, refusal, reasoning, calls, logprobs, finish }: Draft, index: number): Choice | undefined {
  const named = calls.filter(isNamed); // leaves gaps out as well
  if (!finish || (named.length < calls.length && !isCut(finish))) return undefined;
  const hasCalls = named.length > 0;
  return {
    index,
    message: {
      role: "assistant",
      content: hasCalls && content === "" ? null : content,
      refusal: refusal || null,
      ...(hasCalls && { tool_calls: named }),
      ...(reasoning !== "" && { reasoning, reasoning_content: reasoning }),
    },
    logprobs: logprobs ? { content: logprobs } : null,
    finish_reason: finish,
  };
}
