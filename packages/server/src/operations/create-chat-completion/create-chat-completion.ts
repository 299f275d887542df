import { compileGrammars } from "@parley/inference";
import type { EngineUsage, PreparedPrompt } from "@parley/inference";
import type { Exchange } from "../../http/exchange.ts";
import { formatIgnored } from "../../chat/body/ignored-fields.ts";
import { namedMaximum, toEngineRequest } from "../../chat/to-engine-request.ts";
import { ignoredWhenLowered } from "../../chat/body/validate-body.ts";
import { toApiError } from "../../models/engine-failure.ts";
import { fitContext } from "../../models/fit-context.ts";
import { maxCompletionOf } from "../../models/model-object.ts";
import { nameInAnswer, pickModel, readyMetadata } from "../../models/pick-engine.ts";
import type { ServedModels } from "../../models/pick-engine.ts";
import { admit } from "../../chat/admission/admit.ts";
import type { AdmissionDeps } from "../../chat/admission/admit.ts";
import type { Meter } from "../../chat/admission/meter.ts";
import { setLimitHeaders } from "../../accounts/limits/limit-headers.ts";
import { assertUnspent } from "../../accounts/money/budget-refusals.ts";
import { priceOf } from "../../accounts/money/price.ts";
import { ChunkText } from "../../chat/relay/chunk-text.ts";
import { collect } from "../../chat/relay/collect.ts";
import type { CollectedAnswer, CollectOptions } from "../../chat/relay/collect.ts";
import type { GatheredBytes } from "../../chat/relay/gathered-bytes.ts";
import { newHead } from "../../chat/relay/head.ts";
import { relayAnswer } from "../../chat/relay/relay-answer.ts";
import type { AnswerBatch } from "../../chat/relay/relay-answer.ts";
import { ChunkMaker } from "../../chat/relay/to-chunks.ts";
import { toUsage } from "../../chat/relay/usage.ts";
import { writeAnswer } from "../../chat/relay/write-answer.ts";
import { writeEvents } from "../../chat/relay/write-events.ts";
import type { StreamTimings } from "../../chat/relay/write-events.ts";
import type { BodyCall, Operation } from "../call.ts";
import { answerOnce, readIdempotencyKey } from "./answer-once.ts";
import type { AnswerRecording, OnceDeps } from "./answer-once.ts";

export interface ChatDeps extends OnceDeps {
  readonly models: ServedModels;
  readonly admission: AdmissionDeps;
  /** Counts the memory of answers that are not streamed. */
  readonly gatheredBytes: GatheredBytes;
  readonly timings: StreamTimings;
  /** Called with the failure of a stream that had begun. */
  readonly onBroken: (exchange: Exchange, error: unknown) => void;
  /** The wall clock, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** A monotonic clock, in milliseconds. */
  readonly elapsedMs: () => number;
}

type ChatCall = BodyCall<"createChatCompletion">;

/**
 * Picks the engine, fits the context, admits the request, and relays the answer: streamed as it arrives, or collected. Not
 * an async function, so the body can be freed early (docs/request-path.md, "Memory of a request").
 */
export const createChatCompletion =
  (deps: ChatDeps): Operation<"createChatCompletion"> =>
  (call) => {
    const { exchange, caller, admission } = call;
    const key = readIdempotencyKey(exchange);
    if (key === undefined) return answer(deps, { exchange, caller, admission }, translate(deps, call));
    return answerOnce(deps, call, key, (recording) =>
      // The first gate has left this check to a request that runs.
      assertUnspent(caller, deps.admission.ledger, deps.nowMs()).then(() =>
        answer(deps, { exchange, caller, admission, recording }, translate(deps, call)),
      ),
    );
  };

/** The parts of a request that are needed after its body is translated for an engine. Its messages belong to the engine. */
type Translated = ReturnType<typeof translate>;

function translate({ models }: ChatDeps, { exchange, caller, body, validated }: ChatCall) {
  const model = pickModel(models, caller, body.model);
  const metadata = readyMetadata(model);
  const { defaultReasoningEffort } = model;
  const maxCompletionTokens = maxCompletionOf(model);
  const maximum = namedMaximum(body);
  const { id: requestId, traceparent } = exchange;
  const sender = { key: caller.keyId, weight: caller.weight, requestId, traceparent };
  const request = toEngineRequest(body, validated.text, { metadata, defaultReasoningEffort }, sender);
  const { n, format, tools, toolChoice } = request;
  return {
    model,
    fingerprint: metadata.systemFingerprint,
    modelName: nameInAnswer(model, body.model),
    preparing: model.engine.prepare(request, exchange.signal),
    n,
    constrained: { format, tools, toolChoice },
    schemas: validated.schemas,
    isStream: body.stream === true,
    maximum,
    askedTokens: Math.min(maximum?.tokens ?? maxCompletionTokens, maxCompletionTokens),
    ignored: validated.ignored,
    isStrict: validated.isStrict,
    hasLogprobs: body.logprobs === true,
    includesUsage: body.stream_options?.include_usage === true,
  };
}

/** The parts of a call except its body. */
type Asking = Pick<ChatCall, "exchange" | "caller" | "admission"> & {
  /** Keeps the answer, to be sent again. Present if the request has an idempotency key. */
  readonly recording?: AnswerRecording;
};

async function answer(deps: ChatDeps, asking: Asking, translated: Translated): Promise<undefined> {
  const collected = await run(deps, asking, translated);
  // The admission has ended already, so a slow reader of a finished answer holds no slot.
  const { slowReaderMs } = deps.timings;
  const { res, signal } = asking.exchange;
  if (!collected) return undefined;
  signal.throwIfAborted();
  await writeAnswer(res, collected, { slowReaderMs, signal });
  return undefined;
}

/** @returns the answer, unless it was streamed */
async function run(deps: ChatDeps, asking: Asking, translated: Translated): Promise<CollectedAnswer | undefined> {
  const { exchange, caller, admission } = asking;
  const { signal, record, res } = exchange;
  const { model, n, maximum, isStream } = translated;
  const { prompt, maxTokens } = await fitContext(model, translated.preparing, translated.askedTokens);
  const isLowered = maximum !== undefined && maximum.tokens > maxTokens;
  if (isLowered) res.setHeader("x-ignored-params", formatIgnored(ignoredWhenLowered(translated, maximum, maxTokens)));
  // One that is lowered means the same as none.
  const isMaximumNamed = maximum !== undefined && !isLowered;
  const size = { isStream, n, promptTokens: prompt.tokens, maxTokens, isMaximumNamed };
  const onFirst = (): void => void (record.firstEventMs = deps.elapsedMs() - record.startedAtMs);
  const asked = { record, caller, admission, model, onFirst, ...size };
  Object.assign(record, { model: model.id, isStream });
  await using meter = await admit(asked, deps.admission, signal);
  try {
    // Awaited here, because leaving the block ends the admission.
    return await relay(deps, asking, translated, { prompt, meter });
  } catch (error) {
    meter.fail(error);
    throw error;
  }
}

/** An admitted request, which may generate. */
interface Admitted {
  readonly prompt: PreparedPrompt;
  readonly meter: Meter;
}

/** Streams the answer, or returns it. */
async function relay(
  { gatheredBytes, timings, onBroken, nowMs }: ChatDeps,
  { exchange, caller, admission, recording }: Asking,
  translated: Translated,
  { prompt, meter }: Admitted,
): Promise<CollectedAnswer | undefined> {
  const { model, n, isStream, hasLogprobs, includesUsage } = translated;
  const { id: requestId, signal, res } = exchange;
  setLimitHeaders(res, admission.limitStates());
  const grammars = compileGrammars(translated.constrained, translated.schemas);
  const chunks = new ChunkMaker(n, hasLogprobs);
  const relayed = { meter, chunks, isCollected: !isStream, explain: toApiError };
  const batches = relayAnswer(prompt.stream({ maxTokens: meter.maxTokens, grammars }), relayed);
  const head = newHead(translated.modelName, translated.fingerprint, nowMs());
  const form = { head, toUsage: (usage: EngineUsage) => toUsage(usage, priceOf(usage, model.pricing)) };
  if (!isStream) {
    // If the client leaves, its repetition gets this answer, and is not charged.
    using _outliving = recording && exchange.outliveClient();
    const held = gatheredBytes.open(caller.keyId, (reason) => exchange.end(reason));
    const collected = await collectFor(exchange, batches, { ...form, hasLogprobs, held });
    // Kept before it is charged: a server that dies in between has charged nothing that a repetition would pay again.
    await recording?.keepAnswer(collected);
    return collected;
  }
  const noteBroken = (error: unknown): void => {
    meter.fail(error);
    onBroken(exchange, error);
  };
  const text = new ChunkText({ ...form, includesUsage });
  const onSink = (isAllSent: () => boolean): void => meter.watchSending(isAllSent);
  await writeEvents(res, batches, { text, timings, requestId, signal, onSink, recording, onBroken: noteBroken });
  return undefined;
}

/** Collects an answer, and releases its counted memory when the response has closed. */
async function collectFor(
  exchange: Exchange,
  batches: AsyncIterable<AnswerBatch>,
  options: CollectOptions,
): Promise<CollectedAnswer> {
  exchange.onClose(() => options.held.release());
  try {
    exchange.signal.throwIfAborted();
    return await collect(batches, options);
  } catch (error) {
    options.held.release();
    throw error;
  }
}
