import { setTimeout as wait } from "node:timers/promises";
import { EngineError } from "../engine.ts";
import type { EngineMetadata, EngineState } from "../engine.ts";
import { ReadyGate } from "../sidecar/ready-gate.ts";
import type { SupervisorReport } from "../sidecar/supervised.ts";
import type { EngineLifecycle } from "../openai/openai-engine.ts";

/** What a health monitor watches, and how. */
export interface Monitored {
  readonly name: string;
  /** Milliseconds between two checks. */
  readonly checkEveryMs: number;
  /** Milliseconds for one probe or health check to succeed. */
  readonly timeoutMs: number;
  /** Readiness probe: reads the engine's metadata and makes it produce one token. */
  probeReadiness(signal: AbortSignal): Promise<EngineMetadata>;
  /** Asks for something that costs nothing, so that a lost engine is noticed while there are no requests. */
  checkHealth(signal: AbortSignal): Promise<void>;
  /** Why no endpoint works; undefined while one does. */
  failureReason(): string | undefined;
  report(event: SupervisorReport): void;
}

/** A health check goes over the network, perhaps to a service that counts requests. The other checks look at past failures. */
const checksPerHealthCheck = 5;

/** Watches an engine that others run: ready once it has produced a token, and down while no endpoint answers. */
export class HealthMonitor implements EngineLifecycle {
  /** Others run the engine; that it sends nothing is seen on the connection. */
  readonly isStalled = false;
  readonly #monitored: Monitored;
  readonly #ready = new ReadyGate();
  readonly #closed = new AbortController();
  #state: EngineState = "absent";
  #reason = "not probed yet";
  #metadata: EngineMetadata | undefined;
  #restarts = 0;
  #checks = 0;
  #confirming: Promise<void> | undefined;
  #watching: Promise<void> = Promise.resolve();

  constructor(monitored: Monitored) {
    this.#monitored = monitored;
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
    this.#ready.refuse(new EngineError("unavailable", `${this.#monitored.name} was stopped`));
  }

  /** Once no endpoint works: one token decides, instead of waiting for the next check. */
  confirmFailure(): Promise<void> {
    return (this.#confirming ??= this.#confirmFailure().finally(() => void (this.#confirming = undefined)));
  }

  async #confirmFailure(): Promise<void> {
    const why = this.#monitored.failureReason();
    if (this.#state !== "ready" || why === undefined) return;
    try {
      await this.#monitored.probeReadiness(this.#deadline());
    } catch {
      // Meanwhile it may have been closed, or a check may have said the same.
      if (this.#state === "ready") this.#lose(this.#monitored.failureReason() ?? why);
    }
  }

  #lose(why: string): void {
    this.#ready.shut();
    this.#restarts += 1;
    this.#become("crashed", why);
  }

  #deadline(): AbortSignal {
    return AbortSignal.any([this.#closed.signal, AbortSignal.timeout(this.#monitored.timeoutMs)]);
  }

  /** No failure is final: somebody else may be starting the engine just now. */
  async #watch(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      if (this.#state === "ready") await this.#check();
      else await this.#probeReadiness();
      await wait(this.#monitored.checkEveryMs, undefined, { signal, ref: !this.#ready.wasOpen }).catch(() => undefined);
    }
  }

  async #check(): Promise<void> {
    if ((this.#checks += 1) % checksPerHealthCheck === 0) await this.#monitored.checkHealth(this.#deadline());
    if (this.#closed.signal.aborted) return;
    const failureReason = this.#monitored.failureReason();
    if (failureReason !== undefined && this.#state === "ready") this.#lose(failureReason);
  }

  async #probeReadiness(): Promise<void> {
    const { signal } = this.#closed;
    try {
      this.#metadata = await this.#monitored.probeReadiness(this.#deadline());
      if (signal.aborted) return;
      this.#become("ready", "");
      this.#ready.open();
    } catch (error) {
      const why = explain(error);
      if (signal.aborted || why === this.#reason) return;
      if (this.#ready.wasOpen) this.#become("crashed", why);
      else this.#become("starting", why, { isProblem: true });
    }
  }

  #become(state: EngineState, detail: string, more: Pick<SupervisorReport, "isProblem"> = {}): void {
    this.#state = state;
    this.#reason = detail;
    this.#monitored.report({ name: this.#monitored.name, state, detail, ...more });
  }
}

/** With its cause: the operator has to repair it. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
