import type { ServerResponse } from "node:http";
import type { Call } from "./call.ts";
import { errorReply } from "./edge.ts";
import type { Reply } from "./mutant.ts";
import { fault } from "./violation.ts";

/** A request with an idempotency key: while it runs, and with its answer afterwards. */
export interface Repeatable {
  readonly text: string;
  readonly requestId: string;
  answer?: Reply;
}

const header = "Idempotency-Key";

/** Returns the key of a request; a reply if it is malformed. */
export function keyOf({ head, world }: Call): string | Reply | undefined {
  const given = head.raw.filter((name, index) => index % 2 === 0 && name.toLowerCase() === header.toLowerCase());
  const value = head.headers["idempotency-key"];
  if (value === undefined) return undefined;
  const isGood = given.length === 1 && /^[ -~]{1,255}$/.test(value);
  if (isGood || world.mutant.flags?.has("odd-keys-accepted") === true) return value;
  return errorReply(fault("invalid_value", header, `The header ${header} is malformed.`));
}

/** Answers a request with an idempotency key once. @param run answers it under this request id */
export async function once(
  call: Call,
  name: string,
  text: string,
  requestId: string,
  run: () => Promise<Reply | undefined>,
): Promise<Reply | undefined> {
  const { world, key, response } = call;
  const { flags } = world.mutant;
  const owner = flags?.has("idempotency-shared") === true ? "" : [...world.keys.values()].indexOf(key);
  const place = `${owner} ${name}`;
  const known = world.repeatable.get(place);
  if (known) {
    if (known.text !== text && flags?.has("reused-key-answered") !== true) return reused(known);
    if (known.answer) return again(call, known, requestId);
    if (flags?.has("repetition-runs") !== true) return running(known);
  }
  const claim: Repeatable = { text, requestId };
  world.repeatable.set(place, claim);
  const written = collect(response);
  const reply = await run();
  const isWhole = reply ? reply.status === 200 : written.join("").endsWith("data: [DONE]\n\n");
  const isDropped = response.destroyed && flags?.has("left-answer-dropped") === true;
  if (isWhole && !isDropped) claim.answer = reply ?? { status: 200, headers: streamHeaders, body: written.join("") };
  else if (flags?.has("failure-kept") !== true) world.repeatable.delete(place);
  return reply;
}

const streamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** Collects the text that is written to a response. */
function collect(response: ServerResponse): string[] {
  const written: string[] = [];
  const write = response.write.bind(response) as (chunk: string) => boolean;
  response.write = ((chunk: string) => {
    if (!chunk.startsWith(":")) written.push(chunk);
    return write(chunk);
  }) as typeof response.write; // the reference server writes strings, without callbacks
  return written;
}

function again({ world }: Call, { answer, requestId: first }: Repeatable, requestId: string): Reply | undefined {
  if (!answer) return undefined;
  const { flags } = world.mutant;
  if (flags?.has("repetition-charged") === true)
    world.rows.push({ id: requestId, prompt_tokens: 1, completion_tokens: 1, cost_usd: "0.01", outcome: "complete" });
  const headers = { ...answer.headers, "x-request-id": requestId };
  if (flags?.has("repetition-unmarked") === true) return { ...answer, headers };
  return { ...answer, headers: { ...headers, "idempotent-replayed": "true", "x-original-request-id": first } };
}

const reused = ({ requestId }: Repeatable): Reply =>
  errorReply({
    ...fault("idempotency_key_reused", header, `This ${header} had another body.`, 422),
    details: { request_id: requestId },
  });

const running = ({ requestId }: Repeatable): Reply =>
  errorReply({
    ...fault("request_in_progress", null, "The first request still runs.", 409),
    details: { request_id: requestId },
    headers: { "retry-after": "1", "retry-after-ms": "1000" },
  });
