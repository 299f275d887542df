import type { EngineMetadata } from "../engine.ts";

/** What an engine process is doing. */
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

/** How the start of an engine process goes. */
export type StatusMessage =
  | { readonly status: "loading"; readonly share: number; readonly detail: string }
  | { readonly status: "ready"; readonly metadata: EngineMetadata }
  /** Why it is about to end, where a later start may succeed; `message` is a sentence for the operator. */
  | { readonly status: "failing"; readonly message: string }
  /** Why it is about to end, where every later start would fail as well; `message` is a sentence for the operator. */
  | { readonly status: "fatal"; readonly message: string };
