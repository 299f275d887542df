import { EngineError } from "../engine.ts";
import type { EngineMetadata, EngineState } from "../engine.ts";
import { LogTail } from "./engine-log.ts";
import { ReadyGate } from "./ready-gate.ts";
import type { Supervised } from "./supervised.ts";

/** The state of a supervised engine as callers and operators see it. Every change is reported. */
export class ReportedState {
  readonly #target: Pick<Supervised, "name" | "report">;
  readonly #ready = new ReadyGate();
  protected readonly log = new LogTail();
  #state: EngineState = "absent";
  #reason = "not started";
  #metadata: EngineMetadata | undefined;

  constructor(target: Pick<Supervised, "name" | "report">) {
    this.#target = target;
  }

  get state(): EngineState {
    return this.#state;
  }

  get reason(): string {
    return this.#reason;
  }

  get metadata(): EngineMetadata | undefined {
    return this.#metadata;
  }

  /** Returns the last 200 lines that its processes wrote. */
  get logLines(): readonly string[] {
    return this.log.lines;
  }

  /** Resolves when the engine is ready; rejects when it never will be (again). */
  whenReady(): Promise<void> {
    return this.#ready.wait();
  }

  /** True once it has been ready. */
  protected get wasReady(): boolean {
    return this.#ready.wasOpen;
  }

  protected report(state: EngineState, reason: string, log?: readonly string[]): void {
    this.#state = state;
    this.#reason = reason;
    this.#target.report({ name: this.#target.name, state, detail: reason, ...(log && { log }) });
  }

  /** Reports that the engine is ready, and lets requests pass. */
  protected open(metadata: EngineMetadata): void {
    this.#metadata = metadata;
    this.report("ready", "");
    this.#ready.open();
  }

  /** Makes requests wait until the engine is ready again. */
  protected suspend(state: EngineState, reason: string, log?: readonly string[]): void {
    this.#ready.shut();
    this.report(state, reason, log);
  }

  /** Refuses all requests for good. */
  protected refuse(reason: string): void {
    this.#ready.refuse(new EngineError("unavailable", reason));
  }
}
