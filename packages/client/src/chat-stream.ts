import { collect } from "./collect.ts";
import { IncompleteStreamError } from "./errors.ts";
import type { Operation } from "./operations.ts";
import type { Settings } from "./options.ts";
import type { Answer } from "./request.ts";
import { streamChunks } from "./stream-chunks.ts";
import type { Body, Progress } from "./stream-chunks.ts";
import type { AnswerMessage, ChatCompletionChunk } from "./types.ts";
import { wholeMessage } from "./whole-message.ts";

/** The chunks of an answer while it is written, with methods that return the complete message. */
export interface ChatStream extends AsyncGenerator<ChatCompletionChunk, void, undefined> {
  /**
   * Reads the rest of the stream and returns the message of the first choice. `collect()` returns the finish reasons, the
   * usage and all choices, and also an answer that was cut.
   * @throws {IncompleteAnswerError} when the answer was cut, withheld or refused; {IncompleteStreamError} also when a loop
   *   has left the stream early; every error of reading the stream
   */
  finalMessage(): Promise<AnswerMessage>;
  /** Returns the text of the final message, empty if it only calls tools. @throws the errors of `finalMessage` */
  finalText(): Promise<string>;
  /** Sends the request and returns the stream with its response and request id. @throws the errors of the first chunk */
  withResponse(): Promise<Answer<ChatStream>>;
}

export function openChatStream(operation: Operation<Body>, settings: Settings): ChatStream {
  const progress: Progress = { chunks: [], answer: undefined, isWhole: false };
  const chunks = streamChunks(operation, settings, progress);
  const take = chunks.next.bind(chunks);
  let first: ReturnType<typeof take> | undefined;
  const finalMessage = async (): Promise<AnswerMessage> => {
    for await (const _ of stream);
    const { isWhole, answer } = progress;
    const facts = { requestId: answer?.requestId, chunks: progress.chunks };
    if (!isWhole) throw new IncompleteStreamError("The stream was left or failed.", facts);
    return wholeMessage(await collect(progress.chunks), facts);
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
