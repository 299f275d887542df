import { planAnswer } from "../../answer/plan-answer.ts";
import type { EngineEvent, EngineMetadata, Generation, PreparedPrompt, RenderedRequest } from "../../engine.ts";
import { expectToken, probeRequest, streamAtOnce } from "../../probe.ts";
import type { ConstrainedRequest } from "../../probe.ts";
import { handOver, withoutMessages } from "../../prompt/hand-over.ts";
import type { Prompt } from "../../prompt/render-prompt.ts";
import type { ProtocolAdapter, ServedModel } from "../protocol-adapter.ts";
import { findConversation } from "../conversation.ts";
import type { Conversation } from "../conversation.ts";
import { tryPromptCache, unsalted, withPromptCache } from "../cache-salt.ts";
import { runChoices } from "../run-choices.ts";
import type { OpeningChoice } from "../run-choices.ts";
import { completionBody } from "./completion-body.ts";
import { constraintFor } from "./constrain-output.ts";
import { CompletionChoiceReader } from "./read-choice.ts";

/** Sends requests as token ids to `/v1/completions` of vLLM or its routers: a separate completion for every choice. */
export const completionsAdapter: ProtocolAdapter = {
  prepare: async (served, request, signal, maxTokens) => {
    const conversation = findConversation(served, request);
    const rendered = await served.model.prompts.render(request, signal, maxTokens);
    const { continuation = [] } = request;
    const prompt = continuation.length > 0 ? { ...rendered, tokens: [...rendered.tokens, ...continuation] } : rendered;
    return prepared(served, prompt, { ...withoutMessages(request), conversation }, signal);
  },
  probeReadiness: async (served, metadata, signal) => {
    const ask = (request: ConstrainedRequest): AsyncIterable<readonly EngineEvent[]> =>
      streamAtOnce((asked) => completionsAdapter.prepare(served, asked, signal), request);
    await expectToken(ask(probeRequest));
    const known = served.front?.dialect === "nvext" ? { ...metadata, ...untagged(metadata) } : metadata;
    return withPromptCache(known, served.saltOf ? await tryPromptCache(metadata.contextLength, ask) : unsalted);
  },
};

/** Without structural tags nothing makes a model end its reasoning, or write calls that its schemas allow. */
const untagged = ({ description }: EngineMetadata): Partial<EngineMetadata> => ({
  canReason: false,
  canCallTools: false,
  description: `${description}, by token ids: the front forwards no structural tags, so thinking and calls need protocol: chat`,
});

/** A request whose prompt is rendered, with the conversation that decides its endpoint. */
interface Routed extends RenderedRequest {
  readonly conversation: Conversation | undefined;
}

function prepared(served: ServedModel, prompt: Prompt, request: Routed, signal: AbortSignal): PreparedPrompt {
  const takePrompt = handOver(prompt);
  return {
    tokens: prompt.tokens.length,
    stream: ({ maxTokens, grammars }) =>
      runChoices(request.n, signal, (either) =>
        beginChoices(served, takePrompt(), { ...request, maxTokens, grammars }, either),
      ),
  };
}

function beginChoices(
  { model, servedName, upstream, saltOf, front }: ServedModel,
  prompt: Prompt,
  request: Generation & Routed,
  signal: AbortSignal,
): OpeningChoice[] {
  const { capabilities, vocabulary, endOfTurn } = model.folder;
  const plan = planAnswer(request, capabilities);
  const { grammars } = request;
  const constraint = constraintFor({ plan, grammars, vocabulary, opensInReasoning: prompt.opensInReasoning });
  const cacheSalt = saltOf?.(request.origin);
  const { tokens } = prompt;
  const job = {
    model: servedName,
    request,
    prompt: tokens,
    plan,
    constraint,
    vocabulary,
    endOfTurn,
    cacheSalt,
    front,
  };
  return Array.from({ length: request.n }, (_, choice) => ({
    open: () => upstream.open("/v1/completions", completionBody({ ...job, choice }), signal, request),
    reader: new CompletionChoiceReader({
      plan,
      prompt,
      model,
      topLogprobs: request.topLogprobs,
      isWhole: request.isWhole,
    }),
  }));
}
