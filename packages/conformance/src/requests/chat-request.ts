import type { Context } from "../judge/context.ts";
import type { Ask, Header, Manner } from "../wire/ask.ts";
import { modelId } from "./listed-model.ts";

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
