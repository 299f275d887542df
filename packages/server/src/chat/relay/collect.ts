import type { EngineUsage } from "@parley/inference";
import type { components } from "@parley/contract/types";
import type { HeldAnswer } from "./gathered-bytes.ts";
import type { ChunkHead } from "./head.ts";
import { JsonPieces } from "./json-pieces.ts";
import type { AnswerBatch } from "./relay-answer.ts";
import type { ChunkChoice } from "./to-chunks.ts";
import type { Usage } from "./usage.ts";

export type Completion = components["schemas"]["ChatCompletion"];
type Choice = Completion["choices"][number];
type Message = Choice["message"];
type ToolCall = NonNullable<Message["tool_calls"]>[number];

/** A choice while its deltas are collected. */
interface Draft {
  /**
   * The content as the inside of a JSON string. It is escaped piece by piece, because escaping a long text at the end would
   * delay all other requests.
   */
  readonly text: JsonPieces;
  /** The reasoning, in the same form. */
  readonly reasoning: JsonPieces;
  readonly calls: ToolCall[];
  /** The items of `logprobs.content` as JSON. Objects would take several times the memory. */
  readonly logprobs: JsonPieces;
  finish: Choice["finish_reason"] | undefined;
}

/** The JSON of an answer that is not streamed, in pieces. */
export interface CollectedAnswer {
  readonly pieces: readonly Buffer[];
  readonly byteLength: number;
}

export interface CollectOptions {
  readonly head: ChunkHead;
  readonly toUsage: (usage: EngineUsage) => Usage;
  readonly hasLogprobs: boolean;
  /** Counts the memory of the answer. */
  readonly held: HeldAnswer;
}

/**
 * Collects a stream into one completion.
 * @throws {ApiError} 400 `invalid_value` when the answer is too large, 503 `service_unavailable` when all collected answers
 * together are too large
 */
export async function collect(
  batches: AsyncIterable<AnswerBatch>,
  { head, toUsage, hasLogprobs, held }: CollectOptions,
): Promise<CollectedAnswer> {
  const drafts: Draft[] = [];
  let counted = 0;
  let last: EngineUsage | undefined;
  for await (const { choices, usage } of batches) {
    last = usage;
    let added = 0;
    for (const choice of choices) added += add((drafts[choice.index] ??= emptyDraft()), choice);
    counted += added;
    held.add(added);
  }
  if (!last) throw new Error("a stream ended without its usage");
  const json = toJson(drafts, head, toUsage(last), hasLogprobs);
  const pieces = json.finish();
  // Replaces the estimate by the exact size: `add` counts an escaped or multi-byte character as one byte.
  held.add(json.byteLength - counted);
  return { pieces, byteLength: json.byteLength };
}

function toJson(drafts: readonly Draft[], head: ChunkHead, usage: Usage, hasLogprobs: boolean): JsonPieces {
  const { id, created, model, system_fingerprint } = head;
  const json = new JsonPieces();
  json.add(`${opened({ id, object: "chat.completion", created, model })},"choices":[`);
  for (const [index, draft] of drafts.entries()) addChoice(json, draft, index, hasLogprobs);
  json.add(`],${JSON.stringify({ usage, system_fingerprint }).slice(1)}`);
  return json;
}

/** Returns the JSON of an object without its closing brace, so more members can follow. */
const opened = (members: Partial<Completion> | Partial<Choice> | Partial<Message>): string =>
  JSON.stringify(members).slice(0, -1);

function addChoice(json: JsonPieces, draft: Draft, index: number, hasLogprobs: boolean): void {
  const { finish } = draft;
  if (!finish) throw new Error("a stream ended before a choice was finished");
  json.add(`${index === 0 ? "" : ","}${opened({ index })},"message":`);
  addMessage(json, draft);
  json.add(',"logprobs":');
  if (hasLogprobs) {
    json.add('{"content":[');
    json.addAll(draft.logprobs);
    json.add("]}");
  } else json.add("null");
  json.add(`,"finish_reason":${JSON.stringify(finish)}}`);
}

function addMessage(json: JsonPieces, { text, reasoning, calls }: Draft): void {
  json.add(opened({ role: "assistant" }));
  if (calls.length > 0 && text.isEmpty) json.add(',"content":null');
  else addText(json, "content", text);
  json.add(',"refusal":null');
  if (calls.length > 0) json.add(`,"tool_calls":${JSON.stringify(calls)}`);
  if (!reasoning.isEmpty)
    for (const name of ["reasoning", "reasoning_content"] as const) addText(json, name, reasoning);
  json.add("}");
}

function addText(json: JsonPieces, name: keyof Message, text: JsonPieces): void {
  json.add(`,"${name}":"`);
  json.addAll(text);
  json.add('"');
}

const emptyDraft = (): Draft => ({
  text: new JsonPieces(),
  reasoning: new JsonPieces(),
  calls: [],
  logprobs: new JsonPieces(),
  finish: undefined,
});

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Adds a delta to a draft. @returns an estimate of the added bytes, never too high */
function add(draft: Draft, { delta, logprobs, finish_reason }: ChunkChoice): number {
  const { content = "", reasoning = "" } = delta;
  if (content !== "") draft.text.add(escaped(content));
  if (reasoning !== "") draft.reasoning.add(escaped(reasoning));
  draft.finish = finish_reason ?? draft.finish;
  // The answer contains the reasoning twice, under two names.
  let added = content.length + 2 * reasoning.length;
  for (const call of delta.tool_calls ?? []) {
    addCall(draft.calls, call);
    added += call.function?.arguments?.length ?? 0;
  }
  for (const item of logprobs?.content ?? []) {
    const json = JSON.stringify(item);
    draft.logprobs.add(draft.logprobs.isEmpty ? json : `,${json}`);
    added += json.length;
  }
  return added;
}

function addCall(calls: ToolCall[], delta: NonNullable<ChunkChoice["delta"]["tool_calls"]>[number]): void {
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
