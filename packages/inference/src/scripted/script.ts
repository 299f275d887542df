import type { FinishReason } from "../engine.ts";

/**
 * What a scripted engine does, one step after another. A step that says something is exactly one event; `choice` is 0
 * where it is absent. Unless `tokens` says otherwise text, reasoning and tool deltas count one completion token, a role
 * and a finish none.
 */
export type ScriptStep = { readonly choice?: number; readonly tokens?: number } & (
  | { readonly role: true }
  | { readonly text: string }
  | { readonly reasoning: string }
  | { readonly tool: { readonly index: number; readonly name?: string; readonly arguments: string } }
  | { readonly finish: FinishReason }
  /** Says nothing for so many milliseconds. */
  | { readonly wait_ms: number }
  /** Says nothing for ever, yet looks alive: only the caller's deadline ends it. */
  | { readonly stall: true }
  /** Computes for ever without a token: the watchdog ends the process. */
  | { readonly spin: true }
  /** The whole process stands still, as if stopped by a debugger. */
  | { readonly freeze: true }
  /** The process dies, at once. */
  | { readonly die: true }
  /** The connection is reset. */
  | { readonly reset: true }
  /** The generation fails with a message, as an engine that is out of memory does. */
  | { readonly fail: string }
  /** Refuses the request; only before anything has been said. */
  | { readonly refuse: string }
  /** Bytes that are no event. */
  | { readonly raw: string }
  /** From here on every byte is written on its own. */
  | { readonly split: true }
  | { readonly repeat: number; readonly steps: readonly ScriptStep[] }
);

/**
 * Scenarios by name. A request whose last user message is `script:NAME` plays that scenario; any other one plays
 * `default` where there is one, and otherwise gets the built-in reply, which honours every member of the request.
 */
export interface Script {
  readonly scenarios: Readonly<Record<string, readonly ScriptStep[]>>;
}
