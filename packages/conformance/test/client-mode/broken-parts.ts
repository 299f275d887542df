import { connect } from "node:net";
import type { Socket } from "node:net";
import { Agent } from "node:http";
import { readEvents, soundParts, splitLines, ToyError } from "./toy-client.ts";
import type { Parts, State, ToyChunk } from "./toy-client.ts";

/** Changes the bytes, the lines or the data before the sound part reads them. */
export const linesWith = (change: (text: string) => string): Parts["lines"] =>
  async function* (bytes) {
    for await (const line of splitLines(bytes)) yield* change(line).split("\n");
  };

export async function* asDecodedPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) yield Buffer.from(Buffer.from(piece).toString("utf8"));
}

export const splitAt = (pattern: RegExp): Parts["lines"] =>
  async function* (bytes) {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    let rest = "";
    for await (const piece of bytes) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split(pattern);
      rest = lines.pop() ?? "";
      yield* lines;
    }
  };

const { collect, retry } = soundParts;

export const collectWith =
  (change: (chunk: ToyChunk) => ToyChunk): Parts["collect"] =>
  (state, one) =>
    collect(state, change(one));

export const mapMessages = (
  one: ToyChunk,
  change: (message: ToyChunk["choices"][number]["delta"]) => object,
): ToyChunk => ({
  ...one,
  choices: one.choices.map((choice) => ({
    ...choice,
    ...(choice.delta && { delta: change(choice.delta) }),
    ...(choice.message && { message: change(choice.message) }),
  })),
});

export const strictly = (one: ToyChunk, isFine: boolean): ToyChunk => {
  if (!isFine) throw new ToyError("A member cannot be decoded.");
  return one;
};

export const known = new Set([
  "id",
  "object",
  "created",
  "model",
  "system_fingerprint",
  "choices",
  "usage",
  "service_tier",
]);

/** Reads the whole stream into memory as fast as it comes, whatever its reader does. */
export const eager: Parts["bytes"] = async function* (response) {
  const pieces: Uint8Array[] = [];
  response.on("data", (piece: Uint8Array) => pieces.push(piece));
  while (!response.closed || pieces.length > 0) {
    yield* pieces.splice(0);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

export const deadSockets = (): Agent => {
  let socket: Socket | undefined;
  return Object.assign(new Agent(), {
    createConnection: ({ port }: { readonly port: number }) => (socket ??= connect(port, "127.0.0.1")),
  });
};

/** Retries after this time where a sound toy waits longer. */
export const waitsOnly =
  (header: string): Parts["retry"] =>
  (response, attempt, task) => {
    const waitMs = retry(response, attempt, task);
    return waitMs !== undefined && response?.headers[header] !== undefined ? 50 : waitMs;
  };

export const isIn = (status: number | undefined, ...codes: readonly number[]): boolean => codes.includes(status ?? 0);

export async function* mapAsync(
  source: AsyncIterable<string>,
  change: (text: string) => string,
): AsyncGenerator<string> {
  for await (const one of source) yield change(one);
}

export const isKnownReason = (reason: string): boolean =>
  ["stop", "length", "tool_calls", "content_filter"].includes(reason);

export function fail(message: string): never {
  throw new ToyError(message);
}

/** Has room for 4096 events, and drops the others. */
export async function* dropsMany(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let count = 0;
  for await (const data of readEvents(lines)) if ((count += 1) <= 4096) yield data;
}

export function collectNewest(state: State, one: ToyChunk): void {
  const newest = Math.max(0, state.calls.length - 1);
  collect(
    state,
    mapMessages(one, (message) => ({
      ...message,
      tool_calls: message.tool_calls?.map((call) => (call.id === undefined ? { ...call, index: newest } : call)),
    })),
  );
}

export const reparse = (message: ToyChunk["choices"][number]["delta"]): object => ({
  ...message,
  ...(message.tool_calls && {
    tool_calls: message.tool_calls.map((call) => ({
      ...call,
      function: { ...call.function, arguments: JSON.stringify(JSON.parse(call.function.arguments)) },
    })),
  }),
});

export async function* endsQuietly(response: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* response;
  } catch {
    // As if the server had ended it.
  }
}

export function dropUnlessDone(state: State): void {
  if (!state.isDone) state.texts.splice(0);
}

/** Reads without ending the response when the reader leaves. */
export const withoutEnd: Parts["bytes"] = (response) => response.iterator({ destroyOnReturn: false });
