import { setTimeout as wait } from "node:timers/promises";
import { EngineError } from "../engine.ts";
import type { EngineMetadata, EngineState } from "../engine.ts";
import { ReadyGate } from "../sidecar/ready-gate.ts";
import type { SupervisorReport } from "../sidecar/supervised.ts";
import type { EngineLifecycle } from "../openai/openai-engine.ts";

export interface Watched {
  readonly name: string;
  /** Milliseconds between two looks. */
  readonly everyMs: number;
  /** Milliseconds for one look to succeed. */
  readonly patienceMs: number;
  /** Reads what the engine says of itself and makes it produce one token. */
  prove(signal: AbortSignal): Promise<EngineMetadata>;
  /** Asks for something that costs nothing, so that an engine that has gone is noticed while nobody needs it. */
  visit(signal: AbortSignal): Promise<void>;
  /** What is wrong while nobody may be asked; undefined while somebody may. */
  complaint(): string | undefined;
  report(event: SupervisorReport): void;
}

/** A visit goes over the network, perhaps to somebody who counts them. */
const looksPerVisit = 5;

/** Watches an engine that others run: it is ready when a token was really produced, and not while nobody answers. */
export class HealthMonitor implements EngineLifecycle {
  readonly #watched: Watched;
  readonly #ready = new ReadyGate();
  readonly #closed = new AbortController();
  #state: EngineState = "absent";
  #reason = "not asked yet";
  #metadata: EngineMetadata | undefined;
  #restarts = 0;
  #looks = 0;
  #watching: Promise<void> = Promise.resolve();

  constructor(watched: Watched) {
    this.#watched = watched;
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

  /** How often it came back. */
  get restarts(): number {
    return this.#restarts;
  }

  start(): void {
    this.#become("starting", "asking for the model");
    this.#watching = this.#watch();
  }

  whenReady(): Promise<void> {
    return this.#ready.wait();
  }

  drain(): void {
    if (this.#state !== "stopped") this.#become("draining", "stopping");
    this.#closed.abort();
  }

  async close(_graceMs: number): Promise<void> {
    this.drain();
    await this.#watching;
    this.#become("stopped", "");
    this.#ready.refuse(new EngineError("unavailable", `${this.#watched.name} was stopped`));
  }

  /** There is nothing that could not get better: somebody else may be starting it just now. */
  async #watch(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      if (this.#state === "ready") await this.#look();
      else await this.#prove();
      await wait(this.#watched.everyMs, undefined, { signal, ref: !this.#ready.wasOpen }).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const { patienceMs } = this.#watched;
    const patience = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(patienceMs)]);
    if ((this.#looks += 1) % looksPerVisit === 0) await this.#watched.visit(patience);
    if (this.#closed.signal.aborted) return;
    const complaint = this.#watched.complaint();
    if (complaint === undefined) return;
    this.#ready.shut();
    this.#restarts += 1;
    this.#become("crashed", complaint);
  }

  async #prove(): Promise<void> {
    const { patienceMs } = this.#watched;
    const { signal } = this.#closed;
    try {
      this.#metadata = await this.#watched.prove(AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]));
      if (signal.aborted) return;
      this.#become("ready", "");
      this.#ready.open();
    } catch (error) {
      const why = explain(error);
      if (!signal.aborted && why !== this.#reason) this.#become(this.#ready.wasOpen ? "crashed" : "starting", why);
    }
  }

  #become(state: EngineState, detail: string): void {
    this.#state = state;
    this.#reason = detail;
    this.#watched.report({ name: this.#watched.name, state, detail });
  }
}

/** With what it was caused by: the operator has to mend it. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
