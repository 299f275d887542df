import type { Context } from "../judge/context.ts";
import { cannot } from "../judge/finding.ts";
import { at, isRecord, listAt, textAt } from "../judge/read.ts";
import type { Ask, Header, Manner } from "../wire/ask.ts";

export type Members = Readonly<Record<string, unknown>>;

export interface ChatOptions {
  readonly headers?: readonly Header[];
  /** Members as JSON text, put behind the others: for what a JSON library would not write. */
  readonly raw?: readonly string[];
  readonly manner?: Manner;
  /** Instead of the ordinary key. */
  readonly key?: string;
}

export const authorized: Header = ["Authorization", "Bearer {key}"];
export const asJson: Header = ["Content-Type", "application/json"];

/** The question that most requests ask: short, and the same everywhere, so that answers can be compared. */
export const question = "Name three colours.";
/** The same question, word by word: it means the same (MSG-07). */
export const partsOfQuestion = (question.match(/\s*\S+/g) ?? []).map((word) => ({ type: "text", text: word }));
export const say = (content: unknown): Members => ({ messages: [{ role: "user", content }] });

/** Makes the scripted engine play a scenario of the suite. */
export const play = (scenario: string): Members => say(`script:${scenario}`);

/** A chat request; the members given go over those of a plain one. */
export function chat(context: Context, members: Members = {}, options: ChatOptions = {}): Ask {
  const body = { model: modelId(context), ...say(question), max_completion_tokens: 16, temperature: 0, ...members };
  // A member that is undefined here is one that the request leaves out.
  const text = JSON.stringify(body);
  const raw = options.raw ?? [];
  return post(context, raw.length === 0 ? text : `${text.slice(0, -1)},${raw.join(",")}}`, options);
}

/** A POST of a chat request with any body. */
export function post(context: Context, body: string, { headers = [], manner, key = "key" }: ChatOptions = {}): Ask {
  const own = new Set(headers.map(([name]) => name.toLowerCase()));
  const usual: Header[] = [["Authorization", `Bearer {${key}}`], asJson];
  return {
    method: "POST",
    target: `${context.profile.basePath}/chat/completions`,
    headers: [...usual.filter(([name]) => !own.has(name.toLowerCase())), ...headers, ...context.profile.extraHeaders],
    body,
    ...(manner && { manner }),
  };
}

/** A request without a body. */
export function ask(context: Context, method: string, target: string, headers: readonly Header[] = [authorized]): Ask {
  return { method, target, headers: [...headers, ...context.profile.extraHeaders] };
}

/** The records of the listing. */
export function recordsOf(context: Context): readonly Record<string, unknown>[] {
  const { json } = context.answer("models");
  return listAt(json, "/data").filter(isRecord);
}

/** The model that is judged: the one that was named, or the first one listed. */
export function modelId(context: Context): string {
  const { model } = context.profile;
  if (model !== undefined) return model;
  const listed = context.has("models") ? recordsOf(context) : [];
  const ready = listed.find((record) => record["is_ready"] !== false) ?? listed[0];
  return textAt(ready, "/id") ?? cannot("no model is known: the listing names none, and --model was not given");
}

/** The record of the model that is judged. */
export function modelRecord(context: Context): Record<string, unknown> {
  const id = modelId(context);
  return recordsOf(context).find((record) => record["id"] === id) ?? cannot(`the listing has no record of ${id}`);
}

/** Whether the record says that the model has a feature. */
export const hasFeature = (context: Context, feature: string): boolean =>
  listAt(modelRecord(context), "/supported_features").includes(feature);

/** The same, and no where there is no record. */
export const canReason = (context: Context): boolean =>
  context.has("models") &&
  recordsOf(context).some(
    (record) => record["id"] === modelId(context) && listAt(record, "/supported_features").includes("reasoning"),
  );

/** Keeps a model that can think from it, so that a few tokens are enough. */
export const unthinking = (context: Context): Members => (canReason(context) ? { reasoning_effort: "none" } : {});

/** How many tokens prompt and answer may have together, by the listing. */
export function contextLength(context: Context): number {
  const length = lengthOr(context, Number.NaN);
  return Number.isNaN(length) ? cannot("the listing has no context_length of the model") : length;
}

export function lengthOr(context: Context, otherwise: number): number {
  const record = recordsOf(context).find((one) => one["id"] === modelId(context));
  const length = at(record, "/context_length");
  return typeof length === "number" ? length : otherwise;
}
