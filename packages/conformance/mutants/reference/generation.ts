import { keepReceipt } from "./account.ts";
import { limitHeaders } from "./keys.ts";
import { prices } from "./models.ts";
import type { Reply, Row } from "./mutant.ts";
import { finished, collect, metered, Meter, toStream } from "./answers.ts";
import type { Body } from "./answers.ts";
import { release } from "./admission.ts";
import type { Call } from "./call.ts";
import { errorReply, failure, withMutation } from "./edge.ts";
import { EngineFailureError, generate } from "./engine.ts";
import { maxTokensOf, identityOf } from "./identity.ts";
import { writeStream } from "./stream.ts";

/** An admitted request while it is answered. */
interface Generation {
  readonly call: Call;
  readonly body: Body;
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly meter: Meter;
  /** Aborted when the caller has left, or the time is over. */
  readonly gone: AbortController;
  outcome: Row["outcome"];
}

/** A prompt of fewer tokens is not cached. */
const minCachedTokens = 100;

/** Returns the tokens of a prompt that the same key has sent before, in whole prompts. */
function cachedTokens({ world, key }: Call, body: Body, prompt: number): number {
  const asked = JSON.stringify([key.rules, body["messages"]]);
  if (prompt < minCachedTokens) return 0;
  const isCached = world.cached.has(asked);
  world.cached.add(asked);
  return isCached ? prompt - 1 : 0;
}

/** Answers an admitted request, and records its usage whatever its outcome. */
export async function run(
  call: Call,
  body: Body,
  prompt: number,
  headers: Readonly<Record<string, string>>,
  requestId: string,
): Promise<Reply | undefined> {
  const generation: Generation = {
    call,
    body,
    headers,
    requestId,
    meter: new Meter(prompt, cachedTokens(call, body, prompt), prices),
    gone: new AbortController(),
    outcome: "complete",
  };
  const { world } = call;
  watchCaller(generation);
  const timer = setTimeout(() => generation.gone.abort(new EngineFailureError("timeout")), world.settings.requestMs);
  try {
    return body["stream"] === true ? await streamAnswer(generation) : await wholeAnswer(generation);
  } catch (error) {
    return failedAnswer(generation, error);
  } finally {
    clearTimeout(timer);
    release(world, call.key, generation.meter, generation.outcome);
    writeRow(generation);
  }
}

function watchCaller(generation: Generation): void {
  const { response, world, head } = generation.call;
  response.once("close", () => {
    const { flags } = world.mutant;
    const isStream = generation.body["stream"] === true;
    const unnoticed = isStream ? "hang-up-unnoticed" : "plain-hang-up-unnoticed";
    if (response.writableFinished || flags?.has(unnoticed) === true) return;
    const mayBeRepeated = !isStream && head.headers["idempotency-key"] !== undefined;
    if (mayBeRepeated && flags?.has("left-call-stopped") !== true) return;
    generation.outcome = "left";
    generation.gone.abort(new Error("the caller has left"));
  });
}

function eventsOf({ call: { world }, body, meter, gone }: Generation): ReturnType<typeof metered> {
  const { mutant, engine } = world;
  const own = generate(engine, mutant.generated?.(body) ?? body, maxTokensOf(world, body, meter.prompt), gone.signal);
  const events = metered(mutant.events?.(own, body) ?? own, meter);
  return mutant.flags?.has("finish-unchecked") === true ? events : finished(events);
}

const streamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

async function streamAnswer(generation: Generation): Promise<Reply | undefined> {
  const { call, body, headers, requestId, meter, gone } = generation;
  const { world, head, response, key } = call;
  const shown = toStream(eventsOf(generation), body, identityOf(world, body), meter);
  const stream = world.mutant.stream?.(shown, body) ?? shown;
  const plain = { status: 200, headers: { ...streamHeaders, ...limitHeaders(key), ...headers }, body: "" };
  const reply = withMutation(world, head, plain, requestId);
  const failed = await writeStream(world, response, reply, stream, requestId, gone.signal);
  if (failed && generation.outcome !== "left") generation.outcome = failed.code === "cut" ? "cut" : "failed";
  return failed?.reply && { ...failed.reply, headers: { ...failed.reply.headers, "x-request-id": requestId } };
}

async function wholeAnswer(generation: Generation): Promise<Reply> {
  const { call, body, headers, requestId, meter } = generation;
  const json = await collect(eventsOf(generation), body, identityOf(call.world, body), meter);
  const shown = call.world.mutant.completion?.(json, body) ?? json;
  return { status: 200, headers: { ...headers, "x-request-id": requestId }, body: shown };
}

function failedAnswer(generation: Generation, error: unknown): Reply {
  const { gone, requestId } = generation;
  const reason: unknown = gone.signal.aborted ? gone.signal.reason : error;
  if (generation.outcome !== "left") generation.outcome = "failed";
  const reply = errorReply(failure(reason instanceof EngineFailureError ? reason.code : "upstream_error"));
  return { ...reply, headers: { ...reply.headers, "x-request-id": requestId } };
}

function writeRow({ call: { world, key }, body, requestId, meter, outcome }: Generation): void {
  const { cost_usd: cost, prompt_tokens: tokens } = meter.usage;
  const isFree = outcome === "failed";
  const row: Row = {
    id: requestId,
    prompt_tokens: Number(tokens),
    completion_tokens: meter.completion,
    cost_usd: isFree ? "0" : String(cost),
    outcome,
  };
  world.rows.push(...(world.mutant.rows?.(row) ?? [row]));
  keepReceipt(world, key, row, body, meter);
}
