import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { IdempotencyKeys } from "../../accounts/idempotency/idempotency-keys.ts";
import type { ClaimOutcome, OwnClaim, StoredAnswer } from "../../accounts/idempotency/idempotency-store.ts";
import { setLimitHeaders } from "../../accounts/limits/limit-headers.ts";
import type { CollectedAnswer } from "../../chat/relay/collect.ts";
import { streamHead } from "../../chat/relay/event-sink.ts";
import { writeAnswer } from "../../chat/relay/write-answer.ts";
import { ApiError } from "../../errors/api-error.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { BodyCall } from "../call.ts";

type ChatCall = BodyCall<"createChatCompletion">;

export interface OnceDeps {
  readonly idempotency: IdempotencyKeys;
  readonly timings: { readonly slowReaderMs: number };
}

const header = "Idempotency-Key";

/** Returns the key of a request; undefined if it has none. @throws {ApiError} 400 `invalid_value` */
export function readIdempotencyKey({ req }: Exchange): string | undefined {
  const given = req.headers["idempotency-key"];
  if (given === undefined) return undefined;
  const [value = "", second] = req.headersDistinct["idempotency-key"] ?? [];
  const fault =
    second !== undefined
      ? "was sent more than once"
      : /^[ -~]{1,255}$/.test(value)
        ? undefined
        : "must have 1 to 255 printable ASCII characters";
  if (fault === undefined) return value;
  throw new ApiError("invalid_value", `The header ${header} ${fault}.`, { param: header });
}

/**
 * Answers a request with an idempotency key: runs it, repeats the answer that is kept, or refuses it.
 * @param run answers the request, and hands its answer to the recording
 * @throws {ApiError} 409 `request_in_progress`, 422 `idempotency_key_reused`, 503 `service_unavailable`; every error of `run`
 */
export async function answerOnce(
  { idempotency, timings }: OnceDeps,
  { exchange, caller, admission, validated }: Pick<ChatCall, "exchange" | "caller" | "admission" | "validated">,
  idempotencyKey: string,
  run: (recording: AnswerRecording) => Promise<undefined>,
): Promise<undefined> {
  const claim = { keyId: caller.keyId, idempotencyKey, requestId: exchange.id };
  const outcome = await idempotency.claim({ ...claim, bodyHash: validated.text.hash() });
  if (outcome.kind !== "claimed") {
    const answer = answerOf(outcome);
    setLimitHeaders(exchange.res, admission.limitStates());
    return replay(exchange, answer, timings.slowReaderMs);
  }
  await using recording = new AnswerRecording(idempotency, claim, exchange);
  return await run(recording);
}

/** @throws {ApiError} 409, 422 if there is no answer for this request */
function answerOf(outcome: Exclude<ClaimOutcome, { kind: "claimed" }>): StoredAnswer {
  if (outcome.kind === "answered") return outcome.answer;
  const { requestId } = outcome;
  const details = { request_id: requestId };
  if (outcome.kind === "running")
    throw new ApiError(
      "request_in_progress",
      `The request ${requestId} with this ${header} is still running. Wait for its answer, and send this one again.`,
      { details, retryAfterMs: 1000 },
    );
  throw new ApiError(
    "idempotency_key_reused",
    `This ${header} was sent with another body, in the request ${requestId}. Send another key with another body.`,
    { param: header, details },
  );
}

const unzip = promisify(gunzip);
const zip = promisify(gzip);
/** Bytes of a kept answer that are written at once. */
const pieceBytes = 65_536;

/** Writes a kept answer, byte by byte as it was, under the id of this request. */
async function replay({ res, signal }: Exchange, answer: StoredAnswer, slowReaderMs: number): Promise<undefined> {
  const body = await unzip(answer.body);
  signal.throwIfAborted();
  res.setHeader("idempotent-replayed", "true").setHeader("x-original-request-id", answer.requestId);
  if (answer.ignored !== undefined) res.setHeader("x-ignored-params", answer.ignored);
  else res.removeHeader("x-ignored-params");
  const count = Math.ceil(body.length / pieceBytes);
  const pieces = Array.from({ length: count }, (_, index) =>
    body.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  );
  const head = answer.isStream ? streamHead : undefined;
  await writeAnswer(res, { pieces, byteLength: body.length }, { slowReaderMs, signal, head });
  return undefined;
}

/** Bytes of all recordings of this process. Without a bound, many long streams would fill its memory. */
let recordedBytes = 0;
const maxRecordedBytes = 256 * 1024 * 1024;

/**
 * Records the answer of a request, so it can be kept. Disposal gives up the claim of the request, unless its whole answer was
 * kept.
 */
export class AnswerRecording implements AsyncDisposable {
  readonly #idempotency: IdempotencyKeys;
  readonly #claim: OwnClaim;
  readonly #exchange: Exchange;
  /** Undefined once the answer is too large to be kept. */
  #pieces: Buffer[] | undefined = [];
  #bytes = 0;
  #isKept = false;

  constructor(idempotency: IdempotencyKeys, claim: OwnClaim, exchange: Exchange) {
    this.#idempotency = idempotency;
    this.#claim = claim;
    this.#exchange = exchange;
  }

  /** Adds the next events of a stream, as they are sent. */
  add(events: string): void {
    if (this.#pieces) this.#take([Buffer.from(events)]);
  }

  /** Keeps the events that were added: they are the whole answer. */
  keepStream(): Promise<void> {
    return this.#keep(true);
  }

  /** Keeps an answer in one body. */
  keepAnswer({ pieces }: CollectedAnswer): Promise<void> {
    this.#take(pieces);
    return this.#keep(false);
  }

  #take(pieces: readonly Buffer[]): void {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.#bytes += bytes;
    recordedBytes += bytes;
    const isTooMuch = this.#bytes > this.#idempotency.maxAnswerBytes || recordedBytes > maxRecordedBytes;
    if (!isTooMuch) return void this.#pieces?.push(...pieces);
    this.#forget();
    this.#idempotency.unkept.size += 1;
  }

  #forget(): void {
    recordedBytes -= this.#bytes;
    this.#bytes = 0;
    this.#pieces = undefined;
  }

  async #keep(isStream: boolean): Promise<void> {
    if (!this.#pieces) return;
    const body = await zip(Buffer.concat(this.#pieces));
    const ignored = this.#exchange.res.getHeader("x-ignored-params");
    this.#isKept = true;
    await this.#idempotency.keep(this.#claim, {
      requestId: this.#exchange.id,
      isStream,
      ignored: typeof ignored === "string" ? ignored : undefined,
      body,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#forget();
    if (!this.#isKept) await this.#idempotency.release(this.#claim);
  }
}
