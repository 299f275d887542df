import { planAnswer } from "../../answer/plan-answer.ts";
import type { EngineRequest, PreparedPrompt } from "../../engine.ts";
import type { ConstrainedRequest } from "../../probe.ts";
import type { OpenModel } from "../../model-folder/open-model.ts";
import { handOver, withoutMessages } from "../../prompt/hand-over.ts";
import type { PromptOwner } from "../../prompt/prompt-threads.ts";
import { membersOf } from "../fronts.ts";
import type { ServedModel } from "../protocol-adapter.ts";
import { findConversation } from "../conversation.ts";
import { runChoices } from "../run-choices.ts";
import type { OpeningChoice } from "../run-choices.ts";
import { chatBody } from "./chat-body.ts";
import type { ChatDialect } from "./chat-body.ts";
import { ChatChoiceReader } from "./read-chat-choice.ts";
import { refuseSpecialTokens } from "./refuse-special-tokens.ts";

export interface ChatModel extends ServedModel {
  readonly dialect: ChatDialect;
}

/**
 * Counts the prompt of a request for a service that has only a chat route. That service renders the template itself, parses
 * reasoning and tool calls, and enforces structured output. Answers that the service fails to constrain are refused here,
 * before sending or at the end of the answer.
 * @throws {PromptTooLongError} {EngineError}, or the signal's reason once it has aborted
 */
export async function prepareChat(
  served: ChatModel,
  request: EngineRequest,
  signal: AbortSignal,
  maxTokens?: number,
): Promise<PreparedPrompt> {
  const { tokens } = await served.model.prompts.render(request, signal, maxTokens);
  return prepared(served, tokens.length, request, signal);
}

/** Keeps the messages until they are sent, and not the tokens: the service gets no token ids. */
function prepared(served: ChatModel, tokens: number, request: EngineRequest, signal: AbortSignal): PreparedPrompt {
  const takeRequest = handOver(request);
  const { n } = request;
  return {
    tokens,
    stream: ({ maxTokens, grammars }) =>
      runChoices(n, signal, (either) => begin(served, tokens, { ...takeRequest(), maxTokens, grammars }, either)),
  };
}

function begin(
  { model, servedName, upstream, saltOf, dialect, front }: ChatModel,
  promptTokens: number,
  request: ConstrainedRequest,
  signal: AbortSignal,
): OpeningChoice[] {
  const { vocabulary } = model.folder;
  refuseSpecialTokens(request, vocabulary.specialTokens);
  const { maxTokens, grammars } = request;
  const rendered = { ...withoutMessages(request), maxTokens, grammars };
  const conversation = findConversation({ upstream, saltOf: dialect.isSalted ? saltOf : undefined }, request);
  const delivery = { ...rendered, conversation };
  const plan = planAnswer(request, dialect.capabilities);
  const cacheSalt = dialect.isSalted ? saltOf?.(request.origin) : undefined;
  const members = membersOf(front, request.origin, cacheSalt);
  const job = { model: servedName, request, plan, vocabulary, dialect, cacheSalt, members };
  const countTokens = counterOf(model, { keyId: request.origin?.key ?? "", signal });
  return Array.from({ length: request.n }, (_, choice) => {
    // Built before the streams are opened, because it throws for requests that the service does not support.
    const body = chatBody({ ...job, choice });
    return {
      open: () => upstream.open("/v1/chat/completions", body, signal, delivery),
      reader: new ChatChoiceReader({ request: rendered, plan, promptTokens, countTokens }),
    };
  });
}

/** A function of its own: a closure in `begin` would keep the messages in memory until the answer ends. */
const counterOf =
  ({ prompts }: OpenModel, owner: PromptOwner) =>
  (text: string): Promise<number> =>
    prompts.countText(text, owner);
