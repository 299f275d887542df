import type { EngineUsage } from "@parley/inference";
import type { components } from "../generated/contract.ts";
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
  /** Escaped as in a JSON string, without the quotes. Escaping a long text only at the end would hold up all other requests. */
  readonly text: JsonPieces;
  /** Likewise. */
  readonly reasoning: JsonPieces;
  readonly calls: ToolCall[];
  /** The items of `logprobs.content`: as objects they would take several times the memory. */
  readonly logprobs: JsonPieces;
  finish: Choice["finish_reason"] | undefined;
}

/** An answer that is not streamed, as JSON in pieces. */
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
 * @throws {ApiError} 400 `invalid_value` when the answer is too large, 503 `service_unavailable` when all together are
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
  // Escapes, and characters of several bytes, were counted as one byte each until now.
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

/** An object whose last brace is missing, for members that follow. */
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

/** @returns about how many bytes more the draft holds, never too many */
function add(draft: Draft, { delta, logprobs, finish_reason }: ChunkChoice): number {
  const { content = "", reasoning = "" } = delta;
  if (content !== "") draft.text.add(escaped(content));
  if (reasoning !== "") draft.reasoning.add(escaped(reasoning));
  draft.finish = finish_reason ?? draft.finish;
  // Reasoning is in the answer under two names.
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
