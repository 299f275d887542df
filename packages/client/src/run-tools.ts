import type { AnswerPromise } from "./answer-promise.ts";
import type { RunnableTool, ToolContext } from "./define-tool.ts";
import { InvalidOutputError, TooManyRoundsError } from "./errors.ts";
import { writeExact } from "./exact-json.ts";
import type { CallOptions } from "./options.ts";
import { askCaller } from "./retry-advice.ts";
import type { AnswerMessage, ChatCompletion, ChatMessage, CreateRequest, ToolCall } from "./types.ts";
import { wholeMessage } from "./whole-message.ts";

/** What {@link Parley.runTools} takes. `tool_choice` counts in the first round; later ones leave the choice to the model. */
export type ToolRequest = Omit<CreateRequest, "n" | "tools"> & { readonly tools: readonly RunnableTool[] };

/** `signal` ends the loop, a tool that runs included; the other options of a call hold for each of its requests. */
export interface ToolRunOptions extends CallOptions {
  /** The most requests. At least 1. Default: 10. */
  readonly maxRounds?: number | undefined;
  /**
   * What happens when a tool throws: `throw` throws the same from the loop; `tell` gives the model the error's message, and
   * goes on. Default: `throw`. Invalid arguments are the model's own mistake, and always told.
   */
  readonly onToolError?: "throw" | "tell" | undefined;
  /** Called with every message that is added to the conversation. */
  readonly onMessage?: ((message: ChatMessage) => void) | undefined;
}

export interface ToolRun {
  /** The last message, which calls no tool. */
  readonly message: AnswerMessage;
  /** The whole conversation, that message included: what a further request begins with. */
  readonly messages: ChatMessage[];
  /** Every completion, in order; each has its own usage. */
  readonly completions: ChatCompletion[];
}

type Create = (request: CreateRequest, options: CallOptions) => AnswerPromise<ChatCompletion>;

/**
 * Asks, runs the calls one after the other, and asks again with their results, until an answer calls no tool. No call of an
 * answer that was cut is run.
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
    const message = wholeMessage(completion, { retry: askCaller, requestId, messages });
    add(message);
    if (!message.tool_calls?.length) return { message, messages, completions };
    if (completions.length >= maxRounds) {
      const text = `The model still calls tools after ${completions.length} rounds.`;
      throw new TooManyRoundsError(text, { retry: askCaller, messages });
    }
    for (const toolCall of message.tool_calls) {
      const context = { callId: toolCall.id, signal: call.signal };
      const content = await untilAborted(call.signal, () => answerCall(request.tools, toolCall, context, onToolError));
      add({ role: "tool", tool_call_id: toolCall.id, content });
    }
    asked.tool_choice = "auto"; // a choice that forces a call would never let an answer come
  }
}

/** What the model is told. @throws what the tool throws, unless the model is told that */
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

/** @throws the reason of the signal as soon as it aborts, whether or not the work listens to it */
function untilAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    // eslint-disable-next-line prefer-promise-reject-errors -- whatever the caller gave to abort()
    const stop = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    void work()
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener("abort", stop));
  });
}
