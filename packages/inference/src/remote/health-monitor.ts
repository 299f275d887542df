import { setTimeout as wait } from "node:timers/promises";
import { EngineError } from "../engine.ts";
import type { EngineMetadata, EngineState } from "../engine.ts";
import { ReadyGate } from "../supervision/ready-gate.ts";
import type { SupervisorReport } from "../supervision/supervised.ts";
import type { EngineLifecycle } from "../openai/openai-engine.ts";

/** The target of a health monitor, with its intervals and checks. */
export interface Monitored {
  readonly name: string;
  /** Milliseconds between two checks. */
  readonly checkEveryMs: number;
  /** Milliseconds for one probe or health check to succeed. */
  readonly timeoutMs: number;
  /** Readiness probe: reads the engine's metadata and makes it produce one token. */
  probeReadiness(signal: AbortSignal): Promise<EngineMetadata>;
  /** Sends a cheap request, so that a lost engine is noticed while there are no requests. */
  checkHealth(signal: AbortSignal): Promise<void>;
  /** The reason why no endpoint works; undefined while one does. */
  failureReason(): string | undefined;
  report(event: SupervisorReport): void;
}

/**
 * Health checks are rare, because they go over the network, perhaps to a service that counts requests. The other checks only
 * look at past failures.
 */
const checksPerHealthCheck = 5;

/** Watches an engine that others run: ready once it has produced a token, and down while no endpoint answers. */
export class HealthMonitor implements EngineLifecycle {
  /** Always false: others run the engine, and silence is detected on the connection. */
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

  /** The number of recoveries. */
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

  /** Called when no endpoint works. Asks for one token at once instead of waiting for the next check. */
  confirmFailure(): Promise<void> {
    return (this.#confirming ??= this.#confirmFailure().finally(() => void (this.#confirming = undefined)));
  }

  async #confirmFailure(): Promise<void> {
    const why = this.#monitored.failureReason();
    if (this.#state !== "ready" || why === undefined) return;
    try {
      await this.#monitored.probeReadiness(this.#deadline());
    } catch {
      // Meanwhile the engine may have been closed, or a check may have found the same.
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

  /** Retries without end, because somebody else may be starting the engine. */
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
      const why = messageWithCause(error);
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

/** Returns the message with its cause, which the operator needs for the repair. */
function messageWithCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
