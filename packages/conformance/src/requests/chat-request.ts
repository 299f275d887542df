import type { Context } from "../judge/context.ts";
import type { HttpRequest, Header, Behaviour } from "../wire/http-request.ts";
import { modelId } from "./listed-model.ts";

export type Members = Readonly<Record<string, unknown>>;

export interface ChatOptions {
  readonly headers?: readonly Header[];
  /** Further members as JSON text, for what a JSON library would not write. */
  readonly raw?: readonly string[];
  readonly behaviour?: Behaviour;
  /** The role of another key than the ordinary one. */
  readonly key?: string;
}

export const authorized: Header = ["Authorization", "Bearer {key}"];
const asJson: Header = ["Content-Type", "application/json"];

/** The question of most requests. It is short, and always the same, so that answers can be compared. */
export const question = "Name three colours.";
/** The same question as one text part per word, which has the same meaning (MSG-07). */
export const partsOfQuestion = (question.match(/\s*\S+/g) ?? []).map((word) => ({ type: "text", text: word }));
export const say = (content: unknown): Members => ({ messages: [{ role: "user", content }] });

/** Makes the scripted engine play a scenario of the suite. */
export const play = (scenario: string): Members => say(`script:${scenario}`);

/** A chat request; the given members override those of the plain one. */
export function chat(context: Context, members: Members = {}, options: ChatOptions = {}): HttpRequest {
  const body = { model: modelId(context), ...say(question), max_completion_tokens: 16, temperature: 0, ...members };
  // JSON leaves out members that are undefined.
  const text = JSON.stringify(body);
  const raw = options.raw ?? [];
  return post(context, raw.length === 0 ? text : `${text.slice(0, -1)},${raw.join(",")}}`, options);
}

/** A POST of a chat request with any body. */
export function post(
  context: Context,
  body: string,
  { headers = [], behaviour, key = "key" }: ChatOptions = {},
): HttpRequest {
  const own = new Set(headers.map(([name]) => name.toLowerCase()));
  const usual: Header[] = [["Authorization", `Bearer {${key}}`], asJson];
  return {
    method: "POST",
    target: `${context.profile.basePath}/chat/completions`,
    headers: [...usual.filter(([name]) => !own.has(name.toLowerCase())), ...headers, ...context.profile.extraHeaders],
    body,
    ...(behaviour && { behaviour }),
  };
}

/** A request without a body. */
export function httpRequest(
  context: Context,
  method: string,
  target: string,
  headers: readonly Header[] = [authorized],
): HttpRequest {
  return { method, target, headers: [...headers, ...context.profile.extraHeaders] };
}
