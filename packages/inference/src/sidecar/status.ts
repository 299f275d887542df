import type { EngineMetadata } from "../engine.ts";

/** What an engine process says of its work. */
export interface EngineStatus {
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

/** What an engine process says of its start. */
export type StatusMessage =
  | { readonly notice: "loading"; readonly share: number; readonly detail: string }
  | { readonly notice: "ready"; readonly metadata: EngineMetadata }
  /** Why it is about to end, where a later start may succeed; `message` is a sentence for the operator. */
  | { readonly notice: "failing"; readonly message: string }
  /** What cannot get better by starting again; `message` is a sentence for the operator. */
  | { readonly notice: "hopeless"; readonly message: string };
