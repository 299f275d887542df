import type { EngineMetadata } from "../engine.ts";

/** The current work of an engine process. */
export interface EngineStatus {
  /** Choices that are being generated. */
  readonly running: number;
  /** Requests that wait for slots. */
  readonly waiting: number;
  /** Running evaluations. A choice that runs without one is waiting for its reader. */
  readonly computing: number;
  /** Grows while the engine evaluates. */
  readonly progress: number;
  /** Generations whose reader disconnected before their end. */
  readonly aborted: number;
}

/** The progress of an engine's start. */
export type StatusMessage =
  | { readonly status: "loading"; readonly share: number; readonly detail: string }
  | { readonly status: "ready"; readonly metadata: EngineMetadata }
  /** The reason why the process is about to exit, where a later start may succeed. `message` is a sentence for the operator. */
  | { readonly status: "failing"; readonly message: string }
  /**
   * The reason why the process is about to exit, where every later start would fail as well. `message` is a sentence for the
   * operator.
   */
  | { readonly status: "fatal"; readonly message: string };
