import { promiseData } from "./answer-promise.ts";
import type { AnswerPromise } from "./answer-promise.ts";
import { openChatStream } from "./chat-stream.ts";
import type { ChatStream } from "./chat-stream.ts";
import { parseAnswer } from "./json-format.ts";
import type { ParseRequest, ParsedCompletion } from "./json-format.ts";
import { openOperations } from "./operations.ts";
import type { Operation } from "./operations.ts";
import { settle } from "./options.ts";
import type { CallOptions, ParleyOptions, Settings } from "./options.ts";
import { readConnection } from "./read-connection.ts";
import { ask } from "./request.ts";
import type { Answer } from "./request.ts";
import { runTools } from "./run-tools.ts";
import type { ToolRequest, ToolRun, ToolRunOptions } from "./run-tools.ts";
import type { ChatCompletion, CreateRequest, Model, StreamRequest } from "./types.ts";

/** A Parley service, as functions. They need no `this`, and may be taken apart. */
export interface Parley {
  /**
   * Writes the next message of a conversation, and waits for all of it.
   * @throws {APIError} the service refused or failed; {ConnectionError}, {TimeoutError}, {MalformedResponseError} there was
   *   no answer; the reason of `options.signal`
   * @see the operation `createChatCompletion` of the contract
   */
  readonly create: (request: CreateRequest, options?: CallOptions) => AnswerPromise<ChatCompletion>;

  /**
   * The same, chunk by chunk, while it is written. The request begins with the first chunk that is asked for. Leaving the
   * loop ends it, and the service stops within a second; what had been written is charged. With
   * `stream_options: { include_usage: true }` the last chunk has the usage and no choices.
   * @throws {IncompleteStreamError} the stream ended without its `[DONE]`; {APIError} also for an error that ends a stream
   *   that has begun; and what `create` throws. `chunks` of the error has the chunks that had arrived
   * @see the state machine `x-streams` of the contract
   */
  readonly stream: (request: StreamRequest, options?: CallOptions) => ChatStream;

  /**
   * `create` with a {@link jsonFormat}: `parsed` of the completion is what the schema makes of the content.
   * @throws {IncompleteAnswerError} the answer was cut, withheld or refused; {InvalidOutputError} the schema refuses it;
   *   and what `create` throws
   */
  readonly parse: <Output>(
    request: ParseRequest<Output>,
    options?: CallOptions,
  ) => AnswerPromise<ParsedCompletion<Output>>;

  /**
   * Asks, runs the tools that the model calls, one after the other, and asks again with their results, until an answer
   * calls none.
   * @throws {IncompleteAnswerError} an answer was cut, withheld or refused, and none of its calls was run;
   *   {TooManyRoundsError} the model still calls tools in the last round of `maxRounds`; what a tool throws, unless
   *   `onToolError` is `tell`; and what `create` throws
   */
  readonly runTools: (request: ToolRequest, options?: ToolRunOptions) => Promise<ToolRun>;

  /** Every model that the service offers to this key, with limits, prices and capabilities. @throws as `create` */
  readonly models: (options?: CallOptions) => AnswerPromise<Model[]>;

  /** One model by its id. @throws {APIError} `model_not_found`; as `create` */
  readonly model: (id: string, options?: CallOptions) => AnswerPromise<Model>;
}

/**
 * A client of one service. It sends nothing until a method is called, and does not need to be closed.
 * @throws {TypeError} there is no address or key, the address cannot work, or this is a browser
 */
export function createParley(options: ParleyOptions = {}): Parley {
  const { baseURL, apiKey } = readConnection(options);
  const operations = openOperations(baseURL);
  const settleCall = (call: CallOptions | undefined): Settings => settle(options, apiKey, call);
  const askFor = <T>(operation: Operation<T>, call: CallOptions | undefined): Promise<Answer<T>> =>
    ask(operation, settleCall(call));
  const create: Parley["create"] = (request, call) => promiseData(askFor(operations.create(request), call));
  return {
    create,
    stream: (request, call) => openChatStream(operations.stream(request), settleCall(call)),
    parse: (request, call) =>
      promiseData(
        askFor(operations.create(request), call).then((answer) => parseAnswer(answer, request.response_format)),
      ),
    runTools: (request, call = {}) => runTools(create, request, call),
    models: (call) =>
      promiseData(askFor(operations.models(), call).then((answer) => ({ ...answer, data: answer.data.data }))),
    model: (id, call) => promiseData(askFor(operations.model(id), call)),
  };
}
