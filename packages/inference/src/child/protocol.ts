import type { EngineEvent, EngineMetadata, EngineRequest } from "../engine.ts";
import type { Grammars } from "../schema/compile-grammars.ts";

/**
 * The dialect between an engine's driver and its child process: HTTP over a unix socket, one JSON line per event.
 *
 * - `POST /generate` takes a `Job`, answers `application/x-ndjson` of `ChildEvent`; closing the connection cancels.
 * - `POST /count` takes a `Job`, answers `{prompt_tokens}`.
 * - `GET /status` answers `ChildStatus`.
 *
 * On its standard output the child writes one `ChildNotice` a line; it ends when its standard input does.
 */
export interface Job extends Grammars {
  readonly request: EngineRequest;
}

/** `failed` ends the stream: the engine could not go on. */
export type ChildEvent = EngineEvent | { readonly kind: "failed"; readonly message: string };

/** The body of a 400: the engine refuses the request, `message` is fit for a caller. */
export interface ChildRefusal {
  readonly message: string;
}

export interface ChildStatus {
  /** Choices under way. */
  readonly running: number;
  /** Requests that wait for slots. */
  readonly waiting: number;
  /** Evaluations under way: what runs without them waits for its reader. */
  readonly computing: number;
  /** Grows while the engine evaluates. */
  readonly progress: number;
  /** Generations whose reader went away before their end. */
  readonly aborted: number;
}

export type ChildNotice =
  | { readonly notice: "loading"; readonly share: number; readonly detail: string }
  | { readonly notice: "ready"; readonly metadata: EngineMetadata }
  /** Why it is about to end, where a later start may succeed; `message` is a sentence for the operator. */
  | { readonly notice: "failing"; readonly message: string }
  /** What cannot get better by starting again; `message` is a sentence for the operator. */
  | { readonly notice: "hopeless"; readonly message: string };

/** A line of the child's standard output, where it is a notice and no noise. */
export function parseNotice(line: string): ChildNotice | undefined {
  if (!line.startsWith('{"notice"')) return undefined;
  try {
    // Nothing but our own child writes lines that begin so.
    return JSON.parse(line) as ChildNotice;
  } catch {
    return undefined; // cut short by the death of the child
  }
}
