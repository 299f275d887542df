import type { ChildStatus } from "../child/protocol.ts";
import type { EngineState } from "../engine.ts";
import type { Timings } from "./timings.ts";

/** What is supervised, and how it is spoken to. */
export interface Supervised {
  /** The model that the process serves, for messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly timings: Timings;
  /** Called before every start: clears what an earlier process may have left. */
  prepare(): Promise<void>;
  /** Makes the engine produce one real token. */
  probe(signal: AbortSignal): Promise<void>;
  status(signal: AbortSignal): Promise<ChildStatus>;
  /** For the operator: a state change, progress of loading, a restart. */
  report(event: SupervisorReport): void;
  /** 0 to below 1. */
  random(): number;
}

export interface SupervisorReport {
  readonly name: string;
  readonly state: EngineState;
  readonly detail: string;
  /** The last 200 lines that the process wrote, where it was given up. */
  readonly log?: readonly string[];
}
