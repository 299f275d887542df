import { openOperations } from "./operations.ts";
import { settle } from "./options.ts";
import type { CallOptions, ParleyOptions } from "./options.ts";
import { ask } from "./request.ts";
import { streamChunks } from "./stream-chunks.ts";
import type { ChatCompletion, ChatCompletionChunk, CreateRequest, Model, StreamRequest } from "./types.ts";

/** A Parley service, as functions. They need no `this`, and may be taken apart. */
export interface Parley {
  /**
   * Writes the next message of a conversation, and waits for all of it.
   * @throws {APIError} the service refused or failed; {ConnectionError}, {TimeoutError}, {MalformedResponseError} there was
   *   no answer; the reason of `options.signal`
   * @see the operation `createChatCompletion` of the contract
   */
  readonly create: (request: CreateRequest, options?: CallOptions) => Promise<ChatCompletion>;

  /**
   * The same, chunk by chunk, while it is written. The request begins with the first chunk that is asked for. Leaving the
   * loop ends it, and the service stops within a second; what had been written is charged. With
   * `stream_options: { include_usage: true }` the last chunk has the usage and no choices.
   * @throws {IncompleteStreamError} the stream ended without its `[DONE]`; {APIError} also for an error that ends a stream
   *   that has begun; and what `create` throws. `chunks` of the error has the chunks that had arrived
   * @see the state machine `x-streams` of the contract
   */
  readonly stream: (
    request: StreamRequest,
    options?: CallOptions,
  ) => AsyncGenerator<ChatCompletionChunk, void, undefined>;

  /** Every model that the service offers to this key, with limits, prices and capabilities. @throws as `create` */
  readonly models: (options?: CallOptions) => Promise<Model[]>;

  /** One model by its id. @throws {APIError} `model_not_found`; as `create` */
  readonly model: (id: string, options?: CallOptions) => Promise<Model>;
}

/** A client of one service. It sends nothing until a method is called, and does not need to be closed. */
export function createParley(options: ParleyOptions): Parley {
  const operations = openOperations(options.baseURL);
  return {
    create: (request, call) => ask(operations.create(request), settle(options, call)),
    stream: (request, call) => streamChunks(operations.stream(request), settle(options, call)),
    models: async (call) => (await ask(operations.models(), settle(options, call))).data,
    model: (id, call) => ask(operations.model(id), settle(options, call)),
  };
}
