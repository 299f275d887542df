import { assertFits } from "../../answer/assert-fits.ts";
import type { Limits } from "../../answer/assert-fits.ts";
import { planAnswer } from "../../answer/plan-answer.ts";
import type { EngineEvent, EngineRequest } from "../../engine.ts";
import type { ChoiceDelta } from "../../answer/combine-choices.ts";
import type { ServedModel } from "../protocol-adapter.ts";
import { runChoices } from "../run-choices.ts";
import { chatBody } from "./chat-body.ts";
import type { ChatDialect } from "./chat-body.ts";
import { readChat } from "./read-chat.ts";
import { ChatChoiceReader } from "./read-chat-choice.ts";
import { refuseSpecialTokens } from "./refuse-special-tokens.ts";

export interface ChatModel extends ServedModel {
  readonly dialect: ChatDialect;
  readonly limits: Limits;
}

/**
 * Sends one request to a service that has only a chat route. That service renders the template, parses reasoning and tool
 * calls, and enforces structured output. What it does not enforce is refused here, before sending or at the end of the answer.
 * @throws {EngineError}, or the signal's reason once it has aborted
 */
export const generateChat = (
  served: ChatModel,
  request: EngineRequest,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> => runChoices(signal, (either) => begin(served, request, either));

async function begin(
  { model, servedName, upstream, dialect, limits }: ChatModel,
  request: EngineRequest,
  signal: AbortSignal,
): Promise<AsyncGenerator<ChoiceDelta>[]> {
  const { vocabulary } = model.folder;
  refuseSpecialTokens(request, vocabulary.specialTokens);
  const { tokens } = await model.prompts.render(request);
  assertFits(tokens.length, request, limits);
  const plan = planAnswer(request, dialect.capabilities);
  const job = { model: servedName, request, plan, vocabulary, dialect };
  return Array.from({ length: request.n }, (_, choice) => {
    const events = upstream.stream("/v1/chat/completions", chatBody({ ...job, choice }), signal, request.origin);
    const reader = new ChatChoiceReader(request, plan, (text) => model.prompts.countText(text));
    return reader.read(readChat(events, tokens.length));
  });
}
