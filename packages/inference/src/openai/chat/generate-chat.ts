import { assertFits } from "../../answer/assert-fits.ts";
import type { Limits } from "../../answer/assert-fits.ts";
import { planAnswer } from "../../answer/plan-answer.ts";
import type { EngineEvent, EngineRequest } from "../../engine.ts";
import type { ServedModel } from "../protocol-adapter.ts";
import { runChoices } from "../run-choices.ts";
import type { OpeningChoice } from "../run-choices.ts";
import { chatBody } from "./chat-body.ts";
import type { ChatDialect } from "./chat-body.ts";
import { ChatChoiceReader } from "./read-chat-choice.ts";
import { refuseSpecialTokens } from "./refuse-special-tokens.ts";

export interface ChatModel extends ServedModel {
  readonly dialect: ChatDialect;
  readonly limits: Limits;
}

/**
 * Sends one request to a service that has only a chat route. That service renders the template, parses reasoning and tool
 * calls, and enforces structured output. Answers that the service fails to constrain are refused here, before sending or at
 * the end of the answer.
 * @throws {EngineError}, or the signal's reason once it has aborted
 */
export const generateChat = (
  served: ChatModel,
  request: EngineRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly EngineEvent[]> => runChoices(request.n, signal, (either) => begin(served, request, either));

async function begin(
  { model, servedName, upstream, saltOf, dialect, limits }: ChatModel,
  request: EngineRequest,
  signal: AbortSignal,
): Promise<OpeningChoice[]> {
  const { vocabulary } = model.folder;
  refuseSpecialTokens(request, vocabulary.specialTokens);
  const promptTokens = (await model.prompts.render(request, signal)).tokens.length;
  assertFits(promptTokens, request, limits);
  const plan = planAnswer(request, dialect.capabilities);
  const cacheSalt = dialect.isSalted ? saltOf?.(request.origin) : undefined;
  const job = { model: servedName, request, plan, vocabulary, dialect, cacheSalt };
  const owner = { keyId: request.origin?.key ?? "", signal };
  const countTokens = (text: string): Promise<number> => model.prompts.countText(text, owner);
  return Array.from({ length: request.n }, (_, choice) => {
    // Built before the streams are opened, because it throws for requests that the service does not support.
    const body = chatBody({ ...job, choice });
    return {
      open: () => upstream.open("/v1/chat/completions", body, signal, request),
      reader: new ChatChoiceReader({ request, plan, promptTokens, countTokens }),
    };
  });
}
