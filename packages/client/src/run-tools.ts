import type { AnswerPromise } from "./answer-promise.ts";
import { untilAborted } from "./cancellation.ts";
import type { RunnableTool, ToolContext } from "./define-tool.ts";
import { InvalidOutputError, TooManyRoundsError } from "./errors.ts";
import { writeExact } from "./exact-json.ts";
import type { CallOptions } from "./options.ts";
import type { AnswerMessage, ChatCompletion, ChatMessage, CreateRequest, ToolCall } from "./types.ts";
import { wholeMessage } from "./whole-message.ts";

/** The request of {@link Parley.runTools}. `tool_choice` holds for the first round; later rounds use `auto`. */
export type ToolRequest = Omit<CreateRequest, "n" | "tools"> & { readonly tools: readonly RunnableTool[] };

/** `signal` ends the loop, even while a tool runs. The other options of a call hold for each request of the loop. */
export interface ToolRunOptions extends CallOptions {
  /** The maximum number of requests. At least 1. Default: 10. */
  readonly maxRounds?: number | undefined;
  /**
   * The reaction to an error of a tool. `throw` ends the loop with that error; `tell` passes the message to the model and
   * continues. Default: `throw`. Invalid arguments are the model's own mistake, so the model is always told.
   */
  readonly onToolError?: "throw" | "tell" | undefined;
  /** Called with every message that is added to the conversation. */
  readonly onMessage?: ((message: ChatMessage) => void) | undefined;
}

export interface ToolRun {
  /** The last message, which calls no tool. */
  readonly message: AnswerMessage;
  /** The whole conversation with the last message, for a further request. */
  readonly messages: ChatMessage[];
  /** Every completion, in order; each has its own usage. */
  readonly completions: ChatCompletion[];
}

type Create = (request: CreateRequest, options: CallOptions) => AnswerPromise<ChatCompletion>;

/**
 * Sends the request, runs the calls one after the other, and sends their results, until an answer calls no tool. The calls of
 * an answer that was cut are not run.
 */
export async function runTools(create: Create, request: ToolRequest, options: ToolRunOptions): Promise<ToolRun> {
  const { maxRounds = 10, onToolError = "throw", onMessage, ...call } = options;
  const messages = [...request.messages];
  const completions: ChatCompletion[] = [];
  const add = (message: ChatMessage): void => {
    messages.push(message);
    onMessage?.(message);
  };
  const asked: CreateRequest = { ...request, tools: [...request.tools], messages };
  for (;;) {
    const { data: completion, requestId } = await create(asked, call).withResponse();
    completions.push(completion);
    const message = wholeMessage(completion, { requestId, messages });
    add(message);
    if (!message.tool_calls?.length) return { message, messages, completions };
    if (completions.length >= maxRounds) {
      throw new TooManyRoundsError(`The model still calls tools after ${completions.length} rounds.`, { messages });
    }
    for (const toolCall of message.tool_calls) {
      const context = { callId: toolCall.id, signal: call.signal };
      const content = await untilAborted(call.signal, () => answerCall(request.tools, toolCall, context, onToolError));
      add({ role: "tool", tool_call_id: toolCall.id, content });
    }
    asked.tool_choice = "auto"; // a choice that forces a call would never allow a final answer
  }
}

/** Runs a call and returns the text for the model. @throws the error of the tool when `onToolError` is `throw` */
async function answerCall(
  tools: readonly RunnableTool[],
  { function: { name, arguments: text } }: ToolCall,
  context: ToolContext,
  onToolError: "throw" | "tell",
): Promise<string> {
  const tool = tools.find((candidate) => candidate.function.name === name);
  if (!tool) return `Error: there is no tool "${name}".`;
  let run: Awaited<ReturnType<RunnableTool["prepare"]>>;
  try {
    run = await tool.prepare(text);
  } catch (error) {
    if (!(error instanceof InvalidOutputError)) throw error;
    return `Error: the arguments are invalid. ${error.message}`;
  }
  try {
    const result = await run(context);
    return typeof result === "string" ? result : (writeExact(result) ?? "null");
  } catch (error) {
    if (onToolError === "throw") throw error;
    return `Error: ${error instanceof Error ? error.message : String(error)}`;
  }
}
