import { Agent, request as send } from "node:http";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { text as readText } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import type { Adapter, AdapterAnswer, Outcome, SdkError, Task } from "../../src/client-mode/protocol.ts";

/** An error as the toy throws it. */
export class ToyError extends Error {
  override readonly name = "ToyError";
  readonly facts: Partial<SdkError>;

  constructor(message: string, facts: Partial<SdkError> = {}) {
    super(message);
    this.facts = facts;
  }
}

export interface ToyChunk {
  readonly error?: { readonly message: string; readonly code: string };
  readonly object: string;
  readonly created: number;
  readonly choices: readonly {
    readonly index: number;
    readonly finish_reason: string | null;
    readonly delta: ToyMessage;
    readonly message: ToyMessage;
  }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
}

export interface ToyMessage {
  readonly role?: string;
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly id?: string;
    readonly function: { readonly name?: string; readonly arguments: string };
  }[];
}

/** The parts of the answer that the toy has read so far. */
export interface State {
  readonly texts: string[];
  readonly calls: { id: string; name: string; arguments: string }[];
  finish: string | null;
  usage: ToyChunk["usage"];
  isDone: boolean;
}

/** The parts of the toy. A broken toy has another one of them. */
export interface Parts {
  readonly agent: () => Agent;
  readonly url: (base: string) => string;
  readonly headers: (task: Task) => OutgoingHttpHeaders;
  readonly body: (task: Task) => Uint8Array | string;
  readonly limit: (response: IncomingMessage | undefined, timeoutMs: number, abort: () => void) => () => void;
  readonly bytes: (response: IncomingMessage) => AsyncIterable<Uint8Array>;
  readonly lines: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<string>;
  readonly events: (lines: AsyncIterable<string>) => AsyncIterable<string>;
  readonly chunk: (data: string) => ToyChunk | undefined;
  readonly collect: (state: State, chunk: ToyChunk) => void;
  readonly end: (state: State) => void;
  readonly refusal: (response: IncomingMessage, body: string, task: Task) => ToyError;
  readonly parse: (body: string) => ToyChunk;
  /** The pause before the next attempt in milliseconds. Undefined: give up. */
  readonly retry: (response: IncomingMessage | undefined, attempt: number, task: Task) => number | undefined;
  readonly redirect: (response: IncomingMessage, task: Task) => Promise<unknown>;
  readonly leave: (response: IncomingMessage) => void;
  readonly log: (task: Task) => string;
}

export async function* splitLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of bytes) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split(/\r\n|\n|\r(?!\n|$)/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield* rest.split("\r");
}

export async function* readEvents(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of lines) {
    const [, value] = /^data(?:: ?(.*))?$/su.exec(line) ?? [];
    if (value !== undefined) data.push(value);
    if (line !== "" || data.length === 0) continue;
    yield data.join("\n");
    data = [];
  }
}

function collectMessage(state: State, index: number, { content, tool_calls = [] }: ToyMessage): void {
  state.texts[index] = (state.texts[index] ?? "") + (content ?? "");
  for (const { index: at = 0, id = "", function: called } of tool_calls) {
    const call = (state.calls[at] ??= { id, name: called.name ?? "", arguments: "" });
    call.arguments += called.arguments;
  }
}

const waitOf = ({ headers }: IncomingMessage): number | undefined => {
  const after = headers["retry-after"];
  if (headers["retry-after-ms"] !== undefined) return Number(headers["retry-after-ms"]);
  return after === undefined ? undefined : /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now();
};

export const soundParts: Parts = {
  agent: () => new Agent({ keepAlive: true }),
  url: (base) => `${base.replace(/\/+$/, "")}/chat/completions`,
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}`, "content-type": "application/json" }),
  body: ({ model, messages, tools, n, call }) =>
    Buffer.from(JSON.stringify({ model, messages, tools, n, stream: call === "stream" })),
  limit: (response, timeoutMs, abort) => {
    let timer = setTimeout(abort, timeoutMs);
    response?.on("data", () => {
      clearTimeout(timer);
      timer = setTimeout(abort, timeoutMs);
    });
    return () => clearTimeout(timer);
  },
  bytes: (response) => response,
  lines: splitLines,
  events: readEvents,
  chunk: (data) => {
    const chunk = JSON.parse(data) as ToyChunk; // a toy believes its server
    if (chunk.error) throw new ToyError(chunk.error.message, { code: chunk.error.code });
    return chunk;
  },
  collect: (state, { choices, usage }) => {
    if (usage) state.usage = usage;
    for (const { index, delta, message, finish_reason } of choices) {
      collectMessage(state, index, delta ?? message);
      if (index === 0) state.finish = finish_reason;
    }
  },
  end: ({ isDone, finish }) => {
    if (!isDone && finish === null) throw new ToyError("The stream broke off.");
  },
  refusal: ({ statusCode: status = 0, headers }, body) => {
    const { error } = tryParse(body) as { readonly error?: Partial<SdkError> }; // anything may be absent
    const facts = { status, code: error?.code ?? null, param: error?.param ?? null };
    return new ToyError(error?.message ?? `HTTP ${status}`, { ...facts, requestId: String(headers["x-request-id"]) });
  },
  parse: (body) => JSON.parse(body) as ToyChunk, // a toy believes its server
  retry: (response, attempt, { maxRetries }) => {
    const status = response?.statusCode ?? 503;
    const waitMs = (response && waitOf(response)) ?? 100;
    const isWelcome = response?.headers["x-should-retry"] !== "false" && waitMs <= 60_000;
    return (status === 429 || status >= 500) && isWelcome && attempt < maxRetries ? waitMs : undefined;
  },
  redirect: () => Promise.resolve(),
  leave: (response) => void response.destroy(),
  log: () => "",
};

function tryParse(body: string): object {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

const open = (parts: Parts, agent: Agent, task: Task): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const asked = send(parts.url(task.baseUrl), { method: "POST", agent, headers: parts.headers(task) });
    const release = parts.limit(undefined, task.timeoutMs, () => void asked.destroy(new ToyError("Too late.")));
    asked.on("response", (response) => {
      release();
      resolve(response);
    });
    asked.on("error", reject).end(parts.body(task));
  });

async function openWithRetries(parts: Parts, agent: Agent, task: Task): Promise<IncomingMessage> {
  for (let attempt = 0; ; attempt += 1) {
    const response = await open(parts, agent, task);
    if (response.statusCode === 200) return response;
    if (response.statusCode === 307) await parts.redirect(response, task);
    const body = await readText(response);
    const waitMs = parts.retry(response, attempt, task);
    if (waitMs === undefined) throw parts.refusal(response, body, task);
    await wait(Math.min(waitMs, 2 ** 31 - 1), undefined, { ref: false });
  }
}

async function readStream(parts: Parts, response: IncomingMessage, task: Task, state: State): Promise<boolean> {
  const release = parts.limit(
    response,
    task.timeoutMs + (task.pauseAfterFirstChunkMs ?? 0),
    () => void response.destroy(new ToyError("Silent.")),
  );
  try {
    for await (const data of parts.events(parts.lines(parts.bytes(response)))) {
      state.isDone = data === "[DONE]";
      if (state.isDone) break;
      const chunk = parts.chunk(data);
      if (chunk) parts.collect(state, chunk);
      if (task.pauseAfterFirstChunkMs !== undefined) await wait(task.pauseAfterFirstChunkMs);
      if (task.abortAfterFirstChunk === true) return true;
    }
    parts.end(state);
    return false;
  } finally {
    release();
    parts.leave(response);
  }
}

async function carryOut(parts: Parts, agent: Agent, task: Task): Promise<AdapterAnswer> {
  const state: State = { texts: [], calls: [], finish: null, usage: undefined, isDone: false };
  let unknownMembers: Record<string, unknown> = {};
  let more: Partial<AdapterAnswer> = {};
  try {
    const response = await openWithRetries(parts, agent, task);
    if (task.call === "stream") more = { aborted: await readStream(parts, response, task, state) };
    else {
      const parsed = parts.parse(await readText(response));
      parts.collect(state, parsed);
      unknownMembers = { ...parsed };
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    more = { error: { class: "ToyError", message, ...(error instanceof ToyError && error.facts) } };
  }
  const { texts, calls, finish, usage } = state;
  const counts = usage && { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens };
  const { x_text, x_number } = unknownMembers;
  const common = {
    text: texts[0] ?? null,
    texts,
    finishReason: finish,
    toolCalls: calls,
    unknownMembers: { x_text, x_number },
  };
  return { task: task.task, ...common, ...(counts && { usage: counts }), ...more };
}

/** An adapter inside of this process around a toy client with these parts. */
export function openToy(changed: Partial<Parts> = {}): Adapter {
  const parts = { ...soundParts, ...changed };
  let log = "";
  return {
    get log() {
      return log;
    },
    async ask(task, limit) {
      const agent = parts.agent();
      log += parts.log(task);
      const answer = async (): Promise<Outcome> => {
        if (task.secondCallAfterMs !== undefined) {
          await carryOut(parts, agent, task);
          await wait(task.secondCallAfterMs);
        }
        return { kind: "answer", answer: await carryOut(parts, agent, task) };
      };
      return Promise.race([answer(), limit.then((): Outcome => ({ kind: "hung" }))]);
    },
    async [Symbol.asyncDispose]() {},
  };
}
