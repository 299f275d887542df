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
import type { ChatCompletion, CreateRequest, KeyState, Model, Receipt, StreamRequest } from "./types.ts";

/** The client of a Parley service. Its methods do not use `this`, so they can be destructured. */
export interface Parley {
  /**
   * Requests the next message of a conversation and waits until it is complete.
   * @throws {APIError} when the service refuses or fails; {ConnectionError}, {TimeoutError} or {MalformedResponseError} when
   *   there is no answer; the reason of `options.signal` when it aborts
   * @see the operation `createChatCompletion` of the contract
   */
  readonly create: (request: CreateRequest, options?: CallOptions) => AnswerPromise<ChatCompletion>;

  /**
   * Requests the same message as a stream of chunks. The request is sent when the first chunk is read. Leaving the loop
   * cancels it: the service stops within a second and charges the tokens written until then. With
   * `stream_options: { include_usage: true }` the last chunk has the usage and no choices.
   * @throws {IncompleteStreamError} when the stream ends without its `[DONE]`; {APIError} also for an error that ends a
   *   stream that has begun; every error of `create`. `chunks` of the error has the chunks that arrived before it
   * @see the state machine `x-streams` of the contract
   */
  readonly stream: (request: StreamRequest, options?: CallOptions) => ChatStream;

  /**
   * Works like `create` with a {@link jsonFormat}. `parsed` of the completion is the content as the schema's output type.
   * @throws {IncompleteAnswerError} when the answer was cut, withheld or refused; {InvalidOutputError} when it does not fit
   *   the schema; every error of `create`
   */
  readonly parse: <Output>(
    request: ParseRequest<Output>,
    options?: CallOptions,
  ) => AnswerPromise<ParsedCompletion<Output>>;

  /**
   * Sends the request, runs the tools that the model calls, one after the other, and sends their results, until an answer
   * calls no tool.
   * @throws {IncompleteAnswerError} when an answer was cut, withheld or refused; none of its calls is run;
   *   {TooManyRoundsError} when the model still calls tools in round `maxRounds`; the error of a tool, unless
   *   `onToolError` is `tell`; every error of `create`
   */
  readonly runTools: (request: ToolRequest, options?: ToolRunOptions) => Promise<ToolRun>;

  /** Returns every model that this key may use, with limits, prices and capabilities. @throws the errors of `create` */
  readonly models: (options?: CallOptions) => AnswerPromise<Model[]>;

  /** Returns one model by its id. @throws {APIError} `model_not_found`; the errors of `create` */
  readonly model: (id: string, options?: CallOptions) => AnswerPromise<Model>;

  /** Returns the limits and budgets of this key, and how much of them is left. Costs nothing. @throws the errors of `create` */
  readonly key: (options?: CallOptions) => AnswerPromise<KeyState>;

  /**
   * Returns the tokens, prices and exact cost of a request of this key.
   * @param requestId the `requestId` of its answer
   * @throws {APIError} `request_not_found`; the errors of `create`
   */
  readonly receipt: (requestId: string, options?: CallOptions) => AnswerPromise<Receipt>;
}

/**
 * Creates a client of one service. The client sends nothing until a method is called, and does not need to be closed.
 * @throws {TypeError} when the address or the key is missing or invalid, or in a browser
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
    key: (call) => promiseData(askFor(operations.key(), call)),
    receipt: (id, call) => promiseData(askFor(operations.receipt(id), call)),
  };
}
