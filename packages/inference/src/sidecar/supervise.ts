import { EngineError } from "../engine.ts";
import type { EngineMetadata, EngineState } from "../engine.ts";
import { backoffMs } from "./backoff.ts";
import { EngineProcess } from "./engine-process.ts";
import { isFullDisk } from "./full-disk.ts";
import { LogTail } from "./log-tail.ts";
import { ReadyGate } from "./ready-gate.ts";
import type { Supervised } from "./supervised.ts";
import { watchProgress } from "./watch-progress.ts";

/** Keeps one engine process alive: starts it, believes only a real token, watches its progress, restarts it. */
export class Supervisor {
  readonly #target: Supervised;
  readonly #log = new LogTail();
  readonly #ready = new ReadyGate();
  #process: EngineProcess | undefined;
  #state: EngineState = "absent";
  #reason = "not started";
  #metadata: EngineMetadata | undefined;
  #restarts = 0;
  #crashesInARow = 0;
  #readySince = 0;
  #isClosing = false;
  /** The process ends because we want it to, and is to be started anew. */
  #isRecycling = false;
  /** Why starting again would fail again, in the engine's own words. */
  #hopeless: string | undefined;
  /** Why its latest process ends, where its log has told; starting again can help. */
  #complaint: string | undefined;
  #restartTimer: NodeJS.Timeout | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;
  #gone = Promise.resolve();

  constructor(target: Supervised) {
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

  get restarts(): number {
    return this.#restarts;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The last 200 lines that its processes wrote. */
  get logLines(): readonly string[] {
    return this.#log.lines;
  }

  /** Resolves when the engine is ready; rejects when it never will be (again). */
  whenReady(): Promise<void> {
    return this.#ready.wait();
  }

  start(): void {
    this.#become("starting", "starting the engine process");
    this.#complaint = undefined;
    this.#gone = this.#run().catch((error: unknown) => this.#afterNoStart(error));
  }

  /** From here on the engine is not restarted, and nobody should give it new work. */
  drain(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    clearTimeout(this.#restartTimer);
    this.#become("draining", "stopping");
  }

  /** Lets what is under way finish, then ends the process and starts it anew: no crash, and no wait. */
  async recycle(untilIdle: () => Promise<void>): Promise<void> {
    const process = this.#process;
    if (!process || this.#state !== "ready") return;
    this.#isRecycling = true;
    this.#ready.shut();
    this.#become("draining", "restarting, as was asked for");
    await untilIdle();
    if (this.#process !== process) return;
    process.askToEnd();
    const timer = setTimeout(() => process.kill(), this.#target.timings.stopGraceMs);
    await process.ended;
    clearTimeout(timer);
  }

  /** Stops the process: standard input first, then SIGKILL to its group. May be called again to hurry. */
  async close(graceMs: number): Promise<void> {
    this.drain();
    this.#process?.hold(true);
    this.#process?.askToEnd();
    const timer = setTimeout(() => this.#process?.kill(), Math.min(graceMs, this.#target.timings.stopGraceMs));
    await this.#gone;
    clearTimeout(timer);
    if (this.#state !== "stopped") this.#become("stopped", "");
    this.#ready.refuse(new EngineError("unavailable", `${this.#target.name} was stopped`));
  }

  async #run(): Promise<void> {
    await this.#target.prepare();
    if (this.#isClosing) return;
    const process = this.#target.launch((line) => this.#hear(line));
    this.#process = process;
    this.#hold(process);
    this.#expectNews();
    void this.#awaitService(process);
    const how = await process.ended;
    this.#process = undefined;
    await this.#target.cleanUp?.();
    this.#afterEnd(how);
  }

  /** Until it has been ready once, somebody waits for it; after that it must not keep our own process from exiting. */
  #hold(handle: EngineProcess | NodeJS.Timeout): void {
    const isHeld = !this.#ready.wasOpen;
    if (handle instanceof EngineProcess) handle.hold(isHeld);
    else if (!isHeld) handle.unref();
  }

  #hear(line: string): void {
    this.#expectNews();
    const { notice, isLog } = this.#target.read(line);
    if (isLog) this.#log.push(line);
    if (!notice || this.#isClosing) return;
    if (notice.notice === "hopeless") return this.#awaitEnd(notice.message);
    if (notice.notice === "failing") return void (this.#complaint = notice.message);
    if (notice.notice === "loading")
      return this.#become("loading", `${notice.detail} ${Math.round(notice.share * 100)} %`);
    void this.#prove(notice.metadata);
  }

  /** As long as its process is there it may still begin to serve; the start deadline is the limit. */
  async #awaitService(process: EngineProcess): Promise<void> {
    if (!this.#target.untilServing) return;
    const over = new AbortController();
    void process.ended.then(() => over.abort());
    try {
      const metadata = await this.#target.untilServing(over.signal);
      if (!this.#isClosing) await this.#prove(metadata);
    } catch (error) {
      if (!over.signal.aborted) this.#killBecause(process, `it does not serve: ${String(error)}`);
    }
  }

  /** It has given up itself: its last words come with its end. */
  #awaitEnd(why: string): void {
    this.#hopeless = why;
    clearTimeout(this.#silenceTimer);
    this.#process?.askToEnd();
    this.#silenceTimer = setTimeout(() => this.#process?.kill(), this.#target.timings.stopGraceMs);
  }

  /** Ready means that one token was really produced. */
  async #prove(metadata: EngineMetadata): Promise<void> {
    const process = this.#process;
    try {
      await this.#target.probe(AbortSignal.timeout(this.#target.timings.startSilenceMs));
    } catch (error) {
      return this.#killBecause(process, `the first token did not come: ${String(error)}`);
    }
    if (!process || this.#process !== process || this.#isClosing) return;
    clearTimeout(this.#silenceTimer);
    this.#metadata = metadata;
    this.#readySince = Date.now();
    this.#become("ready", "");
    this.#ready.open();
    this.#hold(process);
    const isWatched = (): boolean => this.#process === process && this.#state === "ready";
    const why = await watchProgress((signal) => this.#target.status(signal), this.#target.timings, isWatched);
    if (why !== undefined) this.#killBecause(process, `the engine is frozen: ${why}`);
  }

  #killBecause(process: EngineProcess | undefined, why: string): void {
    if (!process || this.#process !== process) return;
    this.#log.push(why);
    process.kill();
  }

  /** A starting engine that says nothing for too long is dead. */
  #expectNews(): void {
    if (this.#hopeless !== undefined) return;
    clearTimeout(this.#silenceTimer);
    if (this.#state !== "starting" && this.#state !== "loading") return;
    const { startSilenceMs } = this.#target.timings;
    const process = this.#process;
    this.#silenceTimer = setTimeout(
      () => this.#killBecause(process, `nothing was heard for ${startSilenceMs} ms while starting`),
      startSilenceMs,
    );
    this.#hold(this.#silenceTimer);
  }

  #afterEnd(how: string): void {
    clearTimeout(this.#silenceTimer);
    if (this.#isClosing) return;
    if (this.#hopeless !== undefined) return this.#giveUp(this.#hopeless);
    if (this.#isRecycling) return this.#startAnew();
    const lastWords = this.#log.last === "" ? "" : `: ${this.#log.last}`;
    const why = `the engine process ended (${how})${lastWords}`;
    this.#afterCrash(this.#complaint ?? why, this.#complaint !== undefined);
  }

  /** There is no process. A disk may have room again before long; what else is in the way would stay there. */
  #afterNoStart(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    if (this.#isClosing) return;
    if (isFullDisk(error)) return this.#afterCrash(`the engine process cannot be started: ${why}`, true);
    this.#giveUp(`The engine process cannot be started: ${why}`);
  }

  /** @param canPass what is in the way may go by itself, however long that takes */
  #afterCrash(why: string, canPass: boolean): void {
    const wasHealthyFor = this.#state === "ready" ? Date.now() - this.#readySince : 0;
    const { healthyResetMs, crashesBeforeQuarantine } = this.#target.timings;
    this.#crashesInARow = wasHealthyFor > healthyResetMs ? 1 : this.#crashesInARow + 1;
    this.#ready.shut();
    const isHopeless = !canPass && !this.#ready.wasOpen && this.#crashesInARow >= crashesBeforeQuarantine;
    if (isHopeless) return this.#giveUp(why);
    this.#restartLater(why);
  }

  #restartLater(why: string): void {
    const { restartFirstMs, restartMostMs } = this.#target.timings;
    const bounds = { firstMs: restartFirstMs, mostMs: restartMostMs };
    const waitMs = backoffMs(this.#crashesInARow - 1, bounds, () => this.#target.random());
    this.#become("crashed", `${why}; starting again in ${waitMs} ms`);
    this.#restartTimer = setTimeout(() => this.#startAnew(), waitMs);
    this.#hold(this.#restartTimer);
  }

  #startAnew(): void {
    this.#isRecycling = false;
    this.#restarts += 1;
    this.start();
  }

  /** Starting again would fail again. */
  #giveUp(why: string): void {
    this.#become("quarantined", why, [...this.#log.lines]);
    this.#ready.refuse(new EngineError("unavailable", why));
  }

  #become(state: EngineState, detail: string, log?: readonly string[]): void {
    this.#state = state;
    this.#reason = detail;
    this.#target.report({ name: this.#target.name, state, detail, ...(log && { log }) });
  }
}
