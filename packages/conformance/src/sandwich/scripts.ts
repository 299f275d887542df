import type { Piece, Script } from "./upstream.ts";

/** The name under which the upstream answers, unless `--upstream-model` gives another one. */
const defaultModel = "sandwich-model";

const json = { "content-type": "application/json" };
const events = { "content-type": "text/event-stream", "cache-control": "no-cache" };
const head = { created: 1_700_000_001, model: defaultModel, system_fingerprint: "fp_upstream" };
export const usage = {
  prompt_tokens: 17,
  completion_tokens: 5,
  total_tokens: 22,
  prompt_tokens_details: { cached_tokens: 11 },
  completion_tokens_details: { reasoning_tokens: 2 },
};

export type Members = Readonly<Record<string, unknown>>;

/** A choice of an answer in one piece. */
export const choice = (message: Members, finish_reason: string, index = 0, rest: Members = {}): Members => ({
  index,
  message: { role: "assistant", refusal: null, ...message },
  logprobs: null,
  finish_reason,
  ...rest,
});

export const completion = (choices: readonly Members[], rest: Members = {}): Members => ({
  id: "chatcmpl-upstream-1",
  object: "chat.completion",
  ...head,
  choices,
  usage,
  ...rest,
});

export const answerWith = (body: unknown, rest: Partial<Script> = {}): Script => ({
  headers: json,
  pieces: [{ bytes: JSON.stringify(body) }],
  ...rest,
});

/** A short answer, for cases that look at the request. */
export const plainAnswer = answerWith(completion([choice({ content: "Good." }, "stop")]));

/** An error as OpenAI writes it. */
export const errorAnswer = (
  status: number,
  error: Members,
  headers: Readonly<Record<string, string>> = {},
): Script => ({
  status,
  headers: { ...json, ...headers },
  pieces: [{ bytes: JSON.stringify({ error: { type: "upstream_error", param: null, code: null, ...error } }) }],
});

export const event = (data: unknown): string => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

export const chunk = (
  delta: Members,
  rest: { readonly index?: number; readonly finish?: string; readonly members?: Members } = {},
): Members => ({
  id: "chatcmpl-upstream-2",
  object: "chat.completion.chunk",
  ...head,
  choices: [{ index: rest.index ?? 0, delta, logprobs: null, finish_reason: rest.finish ?? null }],
  ...rest.members,
});

export const usageChunk: Members = { ...chunk({}), choices: [], usage };

/** A stream of the given chunks, each written alone after a pause. */
export const streamOf = (
  chunks: readonly unknown[],
  {
    pauseMs = 0,
    isDone = true,
    ...rest
  }: Partial<Script> & { readonly pauseMs?: number; readonly isDone?: boolean } = {},
): Script => {
  const pieces = [...chunks, ...(isDone ? ["[DONE]"] : [])].map((data, index): Piece => ({
    bytes: event(data),
    afterMs: index === 0 ? 0 : pauseMs,
  }));
  return { headers: events, pieces, ...rest };
};

export const role = chunk({ role: "assistant", content: "" });
export const words = (text: string, index = 0): Members[] =>
  text.split(/(?= )/).map((word) => chunk({ content: word }, { index }));
export const finish = (reason: string, index = 0): Members => chunk({}, { index, finish: reason });
