import type { EngineMetadata, EngineState } from "../engine.ts";
import type { EngineProcess } from "./engine-process.ts";
import type { EngineStatus, StatusMessage } from "./status.ts";
import type { Timings } from "./timings.ts";

/** One kind of engine process: how to start it, read its output and ask for its status. */
export interface Supervised {
  /** The model that the process serves, for messages. */
  readonly name: string;
  readonly timings: Timings;
  /** Called before every start: clears files and processes that an earlier run may have left. */
  prepare(): Promise<void>;
  /** Starts the program; `onLogLine` is called with every line that it writes. */
  launch(onLogLine: (line: string) => void): EngineProcess;
  /** Returns the status message in a line, if there is one, and tells if the line belongs into the log. */
  read(line: string): { readonly message?: StatusMessage | undefined; readonly isLog: boolean };
  /** Polls until the program serves. Only for programs that do not report it themselves. */
  untilServing?(signal: AbortSignal): Promise<EngineMetadata>;
  /** Called after every end: clears files and processes that the run has left. */
  cleanUp?(): Promise<void>;
  /** Makes the engine produce one real token. */
  probe(signal: AbortSignal): Promise<void>;
  status(signal: AbortSignal): Promise<EngineStatus>;
  /** Logs a line for the operator: a state change, progress of loading, a restart. */
  report(event: SupervisorReport): void;
  /** 0 to below 1. */
  random(): number;
}

export interface SupervisorReport {
  readonly name: string;
  readonly state: EngineState;
  readonly detail: string;
  /** The engine cannot start yet and will be tried again. The detail gives the reason. */
  readonly isProblem?: true;
  /** The last 200 lines that the process wrote, where it has crashed or the engine has failed. */
  readonly log?: readonly string[];
}
