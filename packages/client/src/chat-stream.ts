import { collect } from "./collect.ts";
import { IncompleteStreamError } from "./errors.ts";
import type { Operation } from "./operations.ts";
import type { Settings } from "./options.ts";
import type { Answer } from "./request.ts";
import { askCaller } from "./retry-advice.ts";
import { streamChunks } from "./stream-chunks.ts";
import type { Body, Progress } from "./stream-chunks.ts";
import type { AnswerMessage, ChatCompletionChunk } from "./types.ts";
import { wholeMessage } from "./whole-message.ts";

/** The chunks of an answer while it is written, and what they amount to. */
export interface ChatStream extends AsyncGenerator<ChatCompletionChunk, void, undefined> {
  /**
   * The message of the first choice, when the stream has ended: takes the chunks that no loop has taken. `collect()` gives
   * the finish reason, the usage and every choice, and also an answer that was cut.
   * @throws {IncompleteAnswerError} when the answer was cut, withheld or refused; {IncompleteStreamError} also when a loop
   *   has left the stream; what reading the stream throws
   */
  finalMessage(): Promise<AnswerMessage>;
  /** The text of that message; empty where it only calls tools. @throws as `finalMessage` */
  finalText(): Promise<string>;
  /** Sends the request, and gives the stream together with its response and request id. @throws as the first chunk */
  withResponse(): Promise<Answer<ChatStream>>;
}

export function openChatStream(operation: Operation<Body>, settings: Settings): ChatStream {
  const progress: Progress = { chunks: [], answer: undefined, isWhole: false };
  const chunks = streamChunks(operation, settings, progress);
  const take = chunks.next.bind(chunks);
  let first: ReturnType<typeof take> | undefined;
  const finalMessage = async (): Promise<AnswerMessage> => {
    for await (const _ of stream);
    return await messageOf(progress);
  };
  const stream: ChatStream = Object.assign(chunks, {
    next: () => {
      const next = first ?? take();
      first = undefined;
      return next;
    },
    finalMessage,
    finalText: async () => (await finalMessage()).content ?? "",
    withResponse: async () => {
      if (!progress.answer) await (first ??= take());
      if (!progress.answer) throw new TypeError("The stream was left before its request was sent.");
      return { ...progress.answer, data: stream };
    },
  });
  return stream;
}

async function messageOf({ chunks, isWhole, answer }: Progress): Promise<AnswerMessage> {
  const facts = { retry: askCaller, requestId: answer?.requestId, chunks };
  if (!isWhole) throw new IncompleteStreamError("The stream was left or failed before its answer was whole.", facts);
  return wholeMessage(await collect(chunks), facts);
}
