import { setTimeout as wait } from "node:timers/promises";
import { EngineError } from "../engine.ts";
import type { EngineMetadata, EngineState } from "../engine.ts";
import { isBroken } from "./confirm-failure.ts";
import { CrashCount } from "./crash-count.ts";
import { EngineProcess } from "./engine-process.ts";
import { isFullDisk } from "./full-disk.ts";
import { LogTail } from "./log-tail.ts";
import { ReadyGate } from "./ready-gate.ts";
import { isShortage } from "./shortage.ts";
import type { Supervised } from "./supervised.ts";
import { probeToken, watchProgress } from "./watch-progress.ts";

/** Keeps one engine process alive: starts it, probes its readiness with a real token, watches its progress, restarts it. */
export class Supervisor {
  readonly #target: Supervised;
  readonly #log = new LogTail();
  readonly #ready = new ReadyGate();
  #process: EngineProcess | undefined;
  #state: EngineState = "absent";
  #reason = "not started";
  #metadata: EngineMetadata | undefined;
  #restarts = 0;
  readonly #crashes: CrashCount;
  #confirming: Promise<void> | undefined;
  #isClosing = false;
  /** The process ends because a graceful restart was requested. */
  #isRestarting = false;
  /** The process was killed because it made no progress. */
  #isStalled = false;
  /** The reason why every later start would fail as well, in the engine's words. */
  #fatalReason: string | undefined;
  /** The reason why its latest process ends, if its log gives one. Starting again can help. */
  #failureReason: string | undefined;
  #restartTimer: NodeJS.Timeout | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;
  #ended = Promise.resolve();

  constructor(target: Supervised) {
    this.#target = target;
    this.#crashes = new CrashCount(target);
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

  /** True from the end of a process that made no progress until the next one starts. */
  get isStalled(): boolean {
    return this.#isStalled;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Returns the last 200 lines that its processes wrote. */
  get logLines(): readonly string[] {
    return this.#log.lines;
  }

  /** Resolves when the engine is ready; rejects when it never will be (again). */
  whenReady(): Promise<void> {
    return this.#ready.wait();
  }

  start(): void {
    this.#become("starting", "starting the engine process");
    this.#isStalled = false;
    this.#failureReason = undefined;
    this.#ended = this.#run().catch((error: unknown) => this.#afterNoStart(error));
  }

  /** Called after a request failed as if the engine were dead. If one more token fails, too, no requests are sent to it. */
  confirmFailure(): Promise<void> {
    return (this.#confirming ??= this.#confirmFailure().finally(() => void (this.#confirming = undefined)));
  }

  async #confirmFailure(): Promise<void> {
    const [process, metadata] = [this.#process, this.#metadata];
    if (!process || !metadata || this.#state !== "ready") return;
    // Connections of a dying process break a moment before its end is noticed.
    await Promise.race([process.ended, wait(100, undefined, { ref: false })]);
    try {
      await this.#target.probe(AbortSignal.timeout(this.#target.timings.unansweredMs));
    } catch (error) {
      if (!isBroken(error) || this.#process !== process || this.state !== "ready") return;
      this.#suspend(`a request failed, and a probe after it: ${String(error)}`);
      void this.#probeReadiness(metadata);
    }
  }

  /** Stops new requests until the engine has proved that it works or is restarted. */
  #suspend(why: string): void {
    this.#ready.shut();
    this.#become("crashed", why);
  }

  /** After this call the engine is not restarted and gets no new work. */
  drain(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    clearTimeout(this.#restartTimer);
    this.#become("draining", "stopping");
  }

  /** Replaces the process after its running streams have finished. Not a crash: the next start follows at once. */
  async restartGracefully(untilIdle: () => Promise<void>): Promise<void> {
    const process = this.#process;
    if (!process || this.#state !== "ready") return;
    this.#isRestarting = true;
    this.#ready.shut();
    this.#become("draining", "restarting, as requested");
    await untilIdle();
    if (this.#process !== process) return;
    process.askToEnd();
    const timer = setTimeout(() => process.kill(), this.#target.timings.stopGraceMs);
    await process.ended;
    clearTimeout(timer);
  }

  /** Stops the process: closes its standard input, then sends SIGKILL to its group. A second call may shorten the wait. */
  async close(graceMs: number): Promise<void> {
    this.drain();
    this.#process?.hold(true);
    this.#process?.askToEnd();
    const timer = setTimeout(() => this.#process?.kill(), Math.min(graceMs, this.#target.timings.stopGraceMs));
    await this.#ended;
    clearTimeout(timer);
    if (this.#state !== "stopped") this.#become("stopped", "");
    this.#ready.refuse(new EngineError("unavailable", `${this.#target.name} was stopped`));
  }

  async #run(): Promise<void> {
    await this.#target.prepare();
    if (this.#isClosing) return;
    this.#log.startProcess();
    const process = this.#target.launch((line) => this.#onLogLine(line));
    this.#process = process;
    this.#hold(process);
    this.#resetSilenceTimer();
    void this.#awaitService(process);
    const how = await process.ended;
    this.#process = undefined;
    await this.#target.cleanUp?.();
    if (isShortage(process.startFailure)) return this.#afterNoStart(process.startFailure);
    this.#afterEnd(how);
  }

  /** Keeps our own process alive until the engine has been ready once, but not after that. */
  #hold(handle: EngineProcess | NodeJS.Timeout): void {
    const isHeld = !this.#ready.wasOpen;
    if (handle instanceof EngineProcess) handle.hold(isHeld);
    else if (!isHeld) handle.unref();
  }

  #onLogLine(line: string): void {
    this.#resetSilenceTimer();
    const { message, isLog } = this.#target.read(line);
    if (isLog) this.#log.push(line);
    if (!message || this.#isClosing) return;
    if (message.status === "fatal") return this.#awaitEnd(message.message);
    if (message.status === "failing") return void (this.#failureReason = message.message);
    if (message.status === "loading")
      return this.#become("loading", `${message.detail} ${Math.round(message.share * 100)} %`);
    void this.#probeReadiness(message.metadata);
  }

  /** Waits until the process serves. A slow start is not a failure: only the start deadline limits it. */
  async #awaitService(process: EngineProcess): Promise<void> {
    if (!this.#target.untilServing) return;
    const ended = new AbortController();
    void process.ended.then(() => ended.abort());
    try {
      const metadata = await this.#target.untilServing(ended.signal);
      if (!this.#isClosing) await this.#probeReadiness(metadata);
    } catch (error) {
      if (!ended.signal.aborted) this.#killBecause(process, `it does not serve: ${String(error)}`);
    }
  }

  /** The process is about to exit by itself. Its last log lines arrive before its end. */
  #awaitEnd(why: string): void {
    this.#fatalReason = why;
    clearTimeout(this.#silenceTimer);
    this.#process?.askToEnd();
    this.#silenceTimer = setTimeout(() => this.#process?.kill(), this.#target.timings.stopGraceMs);
  }

  /** Marks the engine as ready after it has really produced one token. */
  async #probeReadiness(metadata: EngineMetadata): Promise<void> {
    const process = this.#process;
    try {
      await probeToken(this.#target, () => {
        this.#resetSilenceTimer();
        return this.#process === process && !this.#isClosing;
      });
    } catch (error) {
      return this.#killBecause(process, `the first token did not come: ${String(error)}`);
    }
    if (!process || this.#process !== process || this.#isClosing) return;
    clearTimeout(this.#silenceTimer);
    this.#metadata = metadata;
    this.#crashes.noteReady();
    this.#become("ready", "");
    this.#ready.open();
    this.#hold(process);
    const isWatched = (): boolean => this.#process === process && this.#state === "ready";
    const freeze = await watchProgress((signal) => this.#target.status(signal), this.#target.timings, isWatched);
    if (freeze === undefined || this.#process !== process) return;
    this.#isStalled = freeze.isStall;
    this.#killBecause(process, freeze.why);
  }

  #killBecause(process: EngineProcess | undefined, why: string): void {
    if (!process || this.#process !== process) return;
    this.#log.push(why);
    // The end of the process, and clearing what it left, may take seconds.
    if (this.#state === "ready") this.#suspend(why);
    process.kill();
  }

  /** Kills a starting engine that writes nothing for too long. */
  #resetSilenceTimer(): void {
    if (this.#fatalReason !== undefined) return;
    clearTimeout(this.#silenceTimer);
    if (this.#state !== "starting" && this.#state !== "loading") return;
    const { startSilenceMs } = this.#target.timings;
    const process = this.#process;
    this.#silenceTimer = setTimeout(
      () => this.#killBecause(process, `no output for ${startSilenceMs} ms while starting`),
      startSilenceMs,
    );
    this.#hold(this.#silenceTimer);
  }

  #afterEnd(how: string): void {
    clearTimeout(this.#silenceTimer);
    if (this.#isClosing) return;
    if (this.#fatalReason !== undefined) return this.#fail(this.#fatalReason);
    if (this.#isRestarting) return this.#restart();
    const why = [`the engine process ended (${how})`, this.#log.last].filter((text) => text !== "").join(": ");
    this.#afterCrash(this.#failureReason ?? why, this.#failureReason !== undefined);
  }

  /** Handles a failed start. A full disk may get room again and a shortage is temporary; any other obstacle would stay. */
  #afterNoStart(error: unknown): void {
    clearTimeout(this.#silenceTimer);
    const why = error instanceof Error ? error.message : String(error);
    if (this.#isClosing) return;
    if (isShortage(error)) return this.#restartLater(`the engine process cannot be started: ${why}`, true);
    if (isFullDisk(error)) return this.#afterCrash(`the engine process cannot be started: ${why}`, true);
    this.#fail(`The engine process cannot be started: ${why}`);
  }

  /** @param canPass true if the cause may go away by itself, however long that takes */
  #afterCrash(why: string, canPass: boolean): void {
    const isTooOften = this.#crashes.noteCrash();
    if (isTooOften && !canPass && !this.#ready.wasOpen) return this.#fail(why);
    this.#restartLater(why);
  }

  #restartLater(why: string, wasShortage = false): void {
    this.#ready.shut();
    const waitMs = this.#crashes.waitMs(wasShortage);
    this.#become("crashed", `${why}; starting again in ${waitMs} ms`, this.#log.latest);
    this.#restartTimer = setTimeout(() => this.#restart(), waitMs);
    this.#hold(this.#restartTimer);
  }

  #restart(): void {
    this.#isRestarting = false;
    this.#restarts += 1;
    this.start();
  }

  /** Gives the engine up: every later start would fail as well. */
  #fail(why: string): void {
    this.#become("failed", why, [...this.#log.lines]);
    this.#ready.refuse(new EngineError("unavailable", why));
  }

  #become(state: EngineState, detail: string, log?: readonly string[]): void {
    this.#state = state;
    this.#reason = detail;
    this.#target.report({ name: this.#target.name, state, detail, ...(log && { log }) });
  }
}
