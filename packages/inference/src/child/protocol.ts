import type { EngineEvent } from "../engine.ts";
import type { StatusMessage } from "../sidecar/status.ts";

/**
 * The protocol between an engine's driver and its child process: HTTP over a unix socket, one JSON line per event.
 *
 * - `POST /generate` takes an `EngineRequest`, answers `application/x-ndjson` of `ChildEvent`; closing the connection cancels.
 * - `POST /count` takes a `PromptRequest`, answers `{prompt_tokens}`.
 * - `GET /status` answers `EngineStatus`.
 *
 * On its standard output the child writes one `StatusMessage` a line; it ends when its standard input does.
 */

/** `failed` ends the stream: the engine could not go on. */
export type ChildEvent = EngineEvent | { readonly kind: "failed"; readonly message: string };

/** The body of a 400: the engine refuses the request, `message` is fit for a caller. */
export interface ChildRefusal {
  readonly message: string;
  /** The path of the member that is refused. */
  readonly param?: string | undefined;
}

/** A line of the child's standard output, where it is a status message and no noise. */
export function parseStatusMessage(line: string): StatusMessage | undefined {
  if (!line.startsWith('{"status"')) return undefined;
  try {
    // Nothing but our own child writes lines that begin so.
    return JSON.parse(line) as StatusMessage;
  } catch {
    return undefined; // cut short by the death of the child
  }
}
