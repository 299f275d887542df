import { EngineError } from "../src/index.ts";
import type { Engine } from "../src/index.ts";
import type { RemoteOptions } from "../src/remote/remote-engine.ts";
import { readCapture } from "./captures.ts";
import { event, open, start } from "./remote-places.ts";
import type { Answer, Place } from "./remote-places.ts";
import type { Ask } from "./requests.ts";

/** Stand-ins for services that have only a chat route. */

/** The request that the engine under test wrote. */
export interface ChatAsked {
  readonly max_tokens: number;
  readonly messages: readonly object[];
  readonly chat_template_kwargs?: { readonly enable_thinking: boolean };
  readonly [member: string]: unknown;
}

export const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  event({ choices: [{ index: 0, delta, finish_reason: finish }], ...more });
export const counted = (prompt: number, completion: number): string =>
  event({ choices: [], usage: { prompt_tokens: prompt, completion_tokens: completion } });
export const done = event("[DONE]");

export const bodyOf = (text: string): ChatAsked => JSON.parse(text) as ChatAsked; // written by the engine under test

/** An answer of letters in the requested number and format, with reasoning if it is requested. */
export const chatWell: Answer = (response, text) => {
  const { max_tokens, chat_template_kwargs } = bodyOf(text);
  const most = Math.min(max_tokens, 8);
  const letters = "abcdefgh".slice(0, most);
  const delta = chat_template_kwargs?.enable_thinking ? { reasoning: letters } : { content: letters };
  response.end(chunk({ role: "assistant", content: "" }) + chunk(delta, "length") + counted(9, most) + done);
};

/** @param body the body of a stream */
export const say =
  (body: string): Answer =>
  (response) =>
    void response.end(body);

/** An answer that a real vLLM once sent. */
export const replay = (...capture: Parameters<typeof readCapture>): Answer =>
  say(`${readCapture(...capture).body}\n\n`);

export interface ChatPlace {
  readonly place: Place;
  readonly engine: Engine;
  /** The last request body. */
  readonly sent: () => ChatAsked;
}

/** @param listed the place's list entry of its model, by default that of a vLLM */
export async function openChat(
  listed: object = { owned_by: "vllm" },
  changes: Partial<RemoteOptions> = {},
): Promise<ChatPlace> {
  const place = await open(chatWell, 0, "/v1/chat/completions");
  place.listed = listed;
  const engine = await start([place], { protocol: "chat", ...changes });
  return { place, engine, sent: () => bodyOf(place.requests.at(-1)?.body ?? "{}") };
}

const symbol = { type: "object", properties: { symbol: { enum: ["ETH", "BTC"] } }, required: ["symbol"] };

/** The functions of the captures. */
export const prices: Ask = {
  tools: [
    { name: "get_price", description: "d", parameters: symbol },
    { name: "get_gas", description: undefined, parameters: undefined },
  ],
  toolChoice: "auto",
};

/** Returns the error of a request, or its answer. */
export const failure = async (answer: Promise<unknown>): Promise<unknown> => {
  try {
    return await answer;
  } catch (error) {
    return error instanceof EngineError ? [error.kind, error.message] : error;
  }
};
