import type { ServerResponse } from "node:http";
import type { Outgoing } from "./answers.ts";
import { errorReply, failure } from "./edge.ts";
import { EngineFailureError } from "./engine.ts";
import type { Reply } from "./mutant.ts";
import type { World } from "./world.ts";

interface Failed {
  readonly code: string;
  /** The plain HTTP error, if nothing has been sent yet. */
  readonly reply: Reply | undefined;
}

/** Writes a stream. The head goes with the first event, or when the patience is over. */
export async function writeStream(
  world: World,
  response: ServerResponse,
  reply: Reply,
  events: AsyncGenerator<Outgoing>,
  requestId: string,
  signal: AbortSignal,
): Promise<Failed | undefined> {
  const { flags } = world.mutant;
  const { patienceMs, keepAliveMs } = world.settings;
  const open = (): void => {
    if (!response.headersSent) response.writeHead(reply.status, reply.headers).flushHeaders();
  };
  const patience = flags?.has("head-held") === true ? undefined : setTimeout(open, patienceMs);
  const sign = flags?.has("keep-alive-as-event") === true ? "event: ping\ndata: {}\n\n" : ": keep-alive\n\n";
  const beat = setInterval(() => {
    if (response.headersSent && flags?.has("no-keep-alive") !== true) response.write(sign);
  }, keepAliveMs * 0.9);
  const held: string[] = [];
  try {
    for await (const event of events) {
      open();
      beat.refresh();
      const text = textOf(event);
      if (flags?.has("events-collected") === true) held.push(text);
      else if (!response.write(text)) await drained(world, response);
    }
    response.end(held.join(""));
    return undefined;
  } catch (error) {
    return fail(world, response, error instanceof CutError || !signal.aborted ? error : signal.reason, requestId, open);
  } finally {
    clearTimeout(patience);
    clearInterval(beat);
  }
}

const textOf = (event: Outgoing): string =>
  "raw" in event ? event.raw : `data: ${typeof event.data === "string" ? event.data : oneLine(event.data)}\n\n`;

/** JSON without characters that a reader of lines could take for a line end. */
const oneLine = (json: unknown): string =>
  JSON.stringify(json)
    .replaceAll("\u0085", String.raw`\u0085`)
    .replaceAll("\u2028", String.raw`\u2028`)
    .replaceAll("\u2029", String.raw`\u2029`);

class CutError extends Error {
  override readonly name = "CutError";
}

/** Waits for a reader, within the patience for slow ones. */
function drained({ mutant, settings }: World, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    if (mutant.flags?.has("hang-up-unnoticed") === true && response.destroyed) return resolve();
    const isPatient = mutant.flags?.has("slow-reader-kept") === true;
    const timer = isPatient ? undefined : setTimeout(() => reject(new CutError()), settings.slowReaderMs);
    const done = (): void => {
      clearTimeout(timer);
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.once("drain", done).once("close", done);
  });
}

function fail(world: World, response: ServerResponse, error: unknown, requestId: string, open: () => void): Failed {
  const { mutant } = world;
  if (error instanceof CutError) {
    if (mutant.flags?.has("clean-end-of-broken-stream") === true) response.end();
    else response.destroy();
    return { code: "cut", reply: undefined };
  }
  const code = error instanceof EngineFailureError ? error.code : "upstream_error";
  const reply = errorReply(failure(code));
  if (!response.headersSent && mutant.flags?.has("early-failure-in-stream") !== true) return { code, reply };
  open();
  const data = { ...Object(reply.body), request_id: requestId } as Record<string, unknown>; // an error has an object as its body
  for (const event of mutant.streamError?.(data) ?? [{ data }]) response.write(textOf(event));
  response.end();
  return { code, reply: undefined };
}
