import { compileGrammars } from "@parley/inference";
import type { RequestContext } from "../../edge/request-context.ts";
import { entryOf } from "../../edge/take-entry.ts";
import { toEngineRequest } from "../../contract/to-engine-request.ts";
import { toApiError } from "../../engines/engine-failure.ts";
import { fitContext } from "../../engines/fit-context.ts";
import { maxCompletionOf } from "../../engines/model-object.ts";
import { pickModel, readyMetadata } from "../../engines/pick-engine.ts";
import type { ServedModels } from "../../engines/pick-engine.ts";
import { admit } from "../../limits/admit.ts";
import type { AdmissionDeps } from "../../limits/admit.ts";
import { setLimitHeaders } from "../../limits/limit-headers.ts";
import type { Limits } from "../../limits/limits.ts";
import { meter, settle } from "../../metering/meter.ts";
import { priceOf } from "../../metering/price.ts";
import { collect } from "../../relay/collect.ts";
import { newHead } from "../../relay/head.ts";
import { toChunks } from "../../relay/to-chunks.ts";
import { toUsage } from "../../relay/usage.ts";
import { writeEvents } from "../../relay/write-events.ts";
import type { StreamTimings } from "../../relay/write-events.ts";
import type { Operation } from "../call.ts";

export interface ChatDeps {
  readonly models: ServedModels;
  readonly admission: AdmissionDeps;
  readonly limits: Limits;
  readonly timings: StreamTimings;
  /** Called with a failure that ended a stream in the middle. */
  readonly onBroken: (context: RequestContext, error: unknown) => void;
  readonly nowMs: () => number;
}

/** Picks the engine, fits the context, admits, and relays the answer: streamed as it comes, or collected. */
export const createChatCompletion =
  ({ models, admission, limits, timings, onBroken, nowMs }: ChatDeps): Operation<"createChatCompletion"> =>
  async ({ context, caller, body, validated, response }) => {
    const { id: requestId, signal, record } = context;
    const model = pickModel(models, caller, body.model);
    const metadata = readyMetadata(model);
    const { defaultReasoningEffort } = model;
    const modelLimits = { metadata, maxCompletionTokens: maxCompletionOf(model), defaultReasoningEffort };
    const asked = toEngineRequest(body, validated.text, modelLimits, caller.keyId);
    const { promptTokens, request } = await fitContext(model, asked, signal);

    const isStream = body.stream === true;
    const admissionRequest = {
      record,
      requestId,
      caller,
      entry: entryOf(response),
      model,
      isStream,
      n: request.n,
      promptTokens,
      maxTokens: request.max_tokens,
      isMaximumNamed: typeof (body.max_completion_tokens ?? body.max_tokens) === "number",
    };
    Object.assign(record, { model: model.id, isStream });
    await using permit = await admit(admissionRequest, admission, signal);
    await setLimitHeaders(response, limits, caller);

    const { maxTokens: max_tokens } = permit;
    const constrained = { ...request, max_tokens, grammars: compileGrammars(request, validated.schemas) };
    const events = meter(model.engine.stream(constrained, signal), permit, record, nowMs);
    const answer = toChunks(events, {
      head: newHead(body.model, metadata.system_fingerprint, nowMs()),
      n: request.n,
      includesUsage: !isStream || body.stream_options?.include_usage === true,
      hasLogprobs: body.logprobs === true,
      toUsage: (usage) => toUsage(usage, priceOf(usage, model.pricing)),
    });
    const chunks = settle(answer, permit, toApiError);
    // Awaited here: leaving the block releases the permit.
    if (!isStream) return await collect(chunks, body.logprobs === true);
    const noteBroken = (error: unknown): void => {
      permit.fail(error);
      onBroken(context, error);
    };
    await writeEvents(response, chunks, { timings, requestId, signal, onBroken: noteBroken });
    return undefined;
  };
