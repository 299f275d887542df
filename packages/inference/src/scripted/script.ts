import type { FinishReason } from "../engine.ts";

/**
 * The steps that a scripted engine performs in order. A step with output is exactly one event. `choice` is 0 by default.
 * `tokens` is 1 by default for text, reasoning and tool deltas, and 0 for a role and a finish.
 */
export type ScriptStep = { readonly choice?: number; readonly tokens?: number } & (
  | { readonly role: true }
  | { readonly text: string }
  | { readonly reasoning: string }
  | { readonly tool: { readonly index: number; readonly name?: string; readonly arguments: string } }
  | { readonly finish: FinishReason }
  /** Sends nothing for this many milliseconds. */
  | { readonly wait_ms: number }
  /** Sends nothing until this file exists. A relative path begins in the working folder of the server. */
  | { readonly wait_for: string }
  /** Sends nothing more, but answers status requests. Only the caller's deadline ends the request. */
  | { readonly stall: true }
  /** Evaluates forever without producing a token, until the watchdog ends the process. */
  | { readonly spin: true }
  /** Stops the whole process, as a debugger does. */
  | { readonly freeze: true }
  /** Kills the process. */
  | { readonly die: true }
  /** The process ends with an unhandled error with this message, as after a bug. */
  | { readonly crash: string }
  /** Resets the connection. */
  | { readonly reset: true }
  /** The generation fails with this message, as in an engine that is out of memory. */
  | { readonly fail: string }
  /** Refuses the request. Possible only before the first event. */
  | { readonly refuse: string }
  /** Writes bytes that are not an event. */
  | { readonly raw: string }
  /** From here on, every byte is written separately. */
  | { readonly split: true }
  | { readonly repeat: number; readonly steps: readonly ScriptStep[] }
);

/**
 * Scenarios by name. A request whose last user message is `script:NAME` plays that scenario; any other one plays
 * `default` if the script has one, and otherwise gets the built-in reply, which respects every parameter of the request.
 */
export interface Script {
  readonly scenarios: Readonly<Record<string, readonly ScriptStep[]>>;
}
