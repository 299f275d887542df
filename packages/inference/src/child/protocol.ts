import type { EngineEvent } from "../engine.ts";
import type { StatusMessage } from "../supervision/status.ts";

/**
 * The protocol between an engine's driver and its child process: HTTP over a unix socket, one JSON line per event.
 *
 * - `POST /prepare` takes a `PromptRequest`. It answers the rendered prompt, in a form that only the child reads, and the number
 *   of its tokens in the header `prompt-tokens`. The child keeps nothing of it.
 * - `POST /generate` takes two lines, a `Generation` and a prompt that `/prepare` rendered. It answers `application/x-ndjson` of
 *   `ChildEvent`; closing the connection cancels.
 * - `GET /status` answers `EngineStatus`.
 *
 * The child writes one `StatusMessage` per line to its standard output. It exits when its standard input is closed.
 */

/** `failed` is the last event of a stream whose generation could not continue. */
export type ChildEvent = EngineEvent | { readonly kind: "failed"; readonly message: string };

/** The header of a prepared prompt. */
export const tokensHeader = "prompt-tokens";

/**
 * The body of a 400, where the engine refuses the request, and of a 413, where the prompt is too long to be counted exactly.
 * `message` may be shown to the caller.
 */
export interface ChildRefusal {
  readonly message: string;
  /** In a 413: a lower bound of the prompt's tokens. */
  readonly tokens?: number | undefined;
  /** The path of the member that is refused. */
  readonly param?: string | undefined;
}

/** Returns the status message in a line of the child's standard output, or undefined for any other line. */
export function parseStatusMessage(line: string): StatusMessage | undefined {
  if (!line.startsWith('{"status"')) return undefined;
  try {
    // Only our own child process writes lines with this prefix.
    return JSON.parse(line) as StatusMessage;
  } catch {
    return undefined; // cut short by the death of the child
  }
}
