import type { EngineMetadata, EngineState } from "../engine.ts";
import type { EngineProcess } from "./engine-process.ts";
import type { EngineStatus, StatusMessage } from "./status.ts";
import type { Timings } from "./timings.ts";

/** What is supervised, and how it is spoken to. */
export interface Supervised {
  /** The model that the process serves, for messages. */
  readonly name: string;
  readonly timings: Timings;
  /** Called before every start: clears what an earlier process may have left. */
  prepare(): Promise<void>;
  /** Starts the program; `hear` is given every line that it writes. */
  launch(hear: (line: string) => void): EngineProcess;
  /** What a line tells us, and whether it belongs into the log. */
  read(line: string): { readonly notice?: StatusMessage | undefined; readonly isLog: boolean };
  /** For a program that does not say itself when it serves: asks until it does. */
  untilServing?(signal: AbortSignal): Promise<EngineMetadata>;
  /** Called after every end: clears what the process has left. */
  cleanUp?(): Promise<void>;
  /** Makes the engine produce one real token. */
  probe(signal: AbortSignal): Promise<void>;
  status(signal: AbortSignal): Promise<EngineStatus>;
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
