import { setTimeout as wait } from "node:timers/promises";
import { ImpossibleEventError } from "../state-table.ts";
import type { Step } from "../state-table.ts";
import type { EngineMetadata } from "../engine.ts";
import { isBroken } from "./confirm-failure.ts";
import { CrashCount } from "./backoff.ts";
import { EngineProcess } from "./engine-process.ts";
import { isFullDisk } from "./full-disk.ts";
import { ReportedState } from "./reported-state.ts";
import { isShortage } from "./shortage.ts";
import type { StatusMessage } from "./status.ts";
import type { Supervised } from "./supervised.ts";
import { phases } from "./supervisor-states.ts";
import type { SupervisorPhase } from "./supervisor-states.ts";
import { probeToken, watchProgress } from "./watch-progress.ts";

/** Keeps one engine process alive: starts it, probes its readiness with a real token, watches its progress, restarts it. */
export class Supervisor extends ReportedState {
  readonly #target: Supervised;
  readonly #crashes: CrashCount;
  #phase: SupervisorPhase = phases.absent;
  #process: EngineProcess | undefined;
  #restarts = 0;
  #confirming: Promise<void> | undefined;
  /** The process was killed because it made no progress. */
  #isStalled = false;
  /** The reason why the latest process ends, in the engine's words, if its log gives one. */
  #endReason: string | undefined;
  /** The only timer of a phase: ends a silent start or a dying process, or starts the next one. */
  #timer: NodeJS.Timeout | undefined;
  #ended = Promise.resolve();

  constructor(target: Supervised) {
    super(target);
    this.#target = target;
    this.#crashes = new CrashCount(target);
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

  /** @throws {ImpossibleEventError} when it was started before */
  start(): void {
    this.#advance(this.#phase.start);
    this.#start();
  }

  /** Called after a request failed as if the engine were dead. If one more token fails, too, no requests are sent to it. */
  confirmFailure(): Promise<void> {
    return (this.#confirming ??= this.#confirmFailure().finally(() => void (this.#confirming = undefined)));
  }

  async #confirmFailure(): Promise<void> {
    const [process, metadata] = [this.#process, this.metadata];
    if (!process || !metadata || this.#phase !== phases.ready) return;
    // Connections of a dying process break a moment before its end is noticed.
    await Promise.race([process.ended, wait(100, undefined, { ref: false })]);
    try {
      await this.#target.probe(AbortSignal.timeout(this.#target.timings.unansweredMs));
    } catch (error) {
      if (!isBroken(error) || this.#process !== process) return;
      if (this.#advance(this.#phase.doubt) === "ignore") return;
      this.suspend("crashed", `a request failed, and a probe after it: ${String(error)}`);
      void this.#probeReadiness(process, metadata);
    }
  }

  /** After this call the engine is not restarted and gets no new work. */
  drain(): void {
    const action = this.#advance(this.#phase.close);
    if (action === "ignore") return;
    if (action === "stop the timer and drain") clearTimeout(this.#timer);
    this.report("draining", "stopping");
  }

  /** Replaces the process after its running streams have finished. Not a crash: the next start follows at once. */
  async restartGracefully(untilIdle: () => Promise<void>): Promise<void> {
    const process = this.#process;
    if (!process || this.#advance(this.#phase.restart) === "ignore") return;
    this.suspend("draining", "restarting, as requested");
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
    if (this.#advance(this.#phase.gone) === "stop") this.report("stopped", "");
    this.refuse(`${this.#target.name} was stopped`);
  }

  /** Goes to the next phase. @returns the action to take */
  #advance<A>(step: Step<A, SupervisorPhase> | undefined): A {
    if (step === undefined) throw new ImpossibleEventError(this.#phase.name);
    this.#phase = step.next;
    return step.action;
  }

  #start(): void {
    this.report("starting", "starting the engine process");
    this.#isStalled = false;
    this.#endReason = undefined;
    this.#ended = this.#run().catch((error: unknown) => this.#afterNoStart(error));
  }

  async #run(): Promise<void> {
    await this.#target.prepare();
    if (this.#advance(this.#phase.prepared) === "ignore") return;
    this.log.startProcess();
    const process = this.#target.launch((line) => this.#takeLine(process, line));
    this.#process = process;
    this.#hold(process);
    this.#takeSign(process);
    void this.#awaitService(process);
    const how = await process.ended;
    this.#process = undefined;
    await this.#target.cleanUp?.();
    if (isShortage(process.startFailure)) return this.#afterNoStart(process.startFailure);
    this.#afterEnd(how);
  }

  /** Keeps our own process alive until the engine has been ready once, but not after that. */
  #hold(handle: EngineProcess | NodeJS.Timeout): void {
    const isHeld = !this.wasReady;
    if (handle instanceof EngineProcess) handle.hold(isHeld);
    else if (!isHeld) handle.unref();
  }

  #takeLine(process: EngineProcess, line: string): void {
    this.#takeSign(process);
    const { message, isLog } = this.#target.read(line);
    if (isLog) this.log.push(line);
    if (message && this.#process === process) this.#takeMessage(process, message);
  }

  #takeMessage(process: EngineProcess, message: StatusMessage): void {
    switch (message.status) {
      case "fatal":
        if (this.#advance(this.#phase.fatal) === "await the end") this.#awaitEnd(process, message.message);
        return;
      case "failing":
        if (this.#advance(this.#phase.failing) === "note the reason") this.#endReason = message.message;
        return;
      case "loading":
        if (this.#advance(this.#phase.loading) === "ignore") return;
        return this.report("loading", `${message.detail} ${Math.round(message.share * 100)} %`);
      case "ready":
        if (this.#advance(this.#phase.serving) === "probe") void this.#probeReadiness(process, message.metadata);
    }
  }

  /** Waits until the process serves. A slow start is not a failure: only the start deadline limits it. */
  async #awaitService(process: EngineProcess): Promise<void> {
    if (!this.#target.untilServing) return;
    const ended = new AbortController();
    void process.ended.then(() => ended.abort());
    try {
      const metadata = await this.#target.untilServing(ended.signal);
      if (this.#process !== process || this.#advance(this.#phase.serving) === "ignore") return;
      await this.#probeReadiness(process, metadata);
    } catch (error) {
      if (!ended.signal.aborted) this.#killBecause(process, `it does not serve: ${String(error)}`);
    }
  }

  /** The process is about to exit by itself. Its last log lines arrive before its end. */
  #awaitEnd(process: EngineProcess, why: string): void {
    this.#endReason = why;
    clearTimeout(this.#timer);
    process.askToEnd();
    this.#timer = setTimeout(() => process.kill(), this.#target.timings.stopGraceMs);
  }

  /** Marks the engine as ready after it has really produced one token. */
  async #probeReadiness(process: EngineProcess, metadata: EngineMetadata): Promise<void> {
    try {
      await probeToken(this.#target, () => {
        this.#takeSign(process);
        return this.#process === process && this.#phase !== phases.closing;
      });
    } catch (error) {
      return this.#killBecause(process, `the first token did not come: ${String(error)}`);
    }
    if (this.#process !== process || this.#advance(this.#phase.answered) === "ignore") return;
    clearTimeout(this.#timer);
    this.#crashes.noteReady();
    this.open(metadata);
    this.#hold(process);
    const isWatched = (): boolean => this.#process === process && this.#phase === phases.ready;
    const freeze = await watchProgress((signal) => this.#target.status(signal), this.#target.timings, isWatched);
    if (freeze === undefined || this.#process !== process) return;
    this.#isStalled = freeze.isStall;
    this.#killBecause(process, freeze.why);
  }

  #killBecause(process: EngineProcess, why: string): void {
    if (this.#process !== process) return;
    this.log.push(why);
    // The end of the process, and clearing what it left, may take seconds.
    if (this.#advance(this.#phase.broken) === "suspend and kill") this.suspend("crashed", why);
    process.kill();
  }

  /** Kills a starting engine that writes nothing for too long. */
  #takeSign(process: EngineProcess): void {
    if (this.#process !== process) return;
    if (this.#advance(this.#phase.sign) === "ignore") return;
    clearTimeout(this.#timer);
    const { startSilenceMs } = this.#target.timings;
    this.#timer = setTimeout(
      () => this.#killBecause(process, `no output for ${startSilenceMs} ms while starting`),
      startSilenceMs,
    );
    this.#hold(this.#timer);
  }

  #afterEnd(how: string): void {
    clearTimeout(this.#timer);
    const why = [`the engine process ended (${how})`, this.log.last].filter((text) => text !== "").join(": ");
    switch (this.#advance(this.#phase.end)) {
      case "give up":
        return this.#giveUp(this.#endReason ?? why);
      case "start again":
        return this.#startAgain();
      case "judge":
        return this.#afterCrash(this.#endReason ?? why, this.#endReason !== undefined);
      case "ignore":
    }
  }

  /** Handles a failed start. A full disk may get room again and a shortage is temporary; any other obstacle would stay. */
  #afterNoStart(error: unknown): void {
    clearTimeout(this.#timer);
    if (this.#advance(this.#phase.noStart) === "ignore") return;
    const why = error instanceof Error ? error.message : String(error);
    if (isShortage(error)) return this.#waitForStart(`the engine process cannot be started: ${why}`, true);
    if (isFullDisk(error)) return this.#afterCrash(`the engine process cannot be started: ${why}`, true);
    this.#giveUp(`The engine process cannot be started: ${why}`);
  }

  /** @param canPass true if the cause may go away by itself, however long that takes */
  #afterCrash(why: string, canPass: boolean): void {
    const isTooOften = this.#crashes.noteCrash();
    if (isTooOften && !canPass && !this.wasReady) return this.#giveUp(why);
    this.#waitForStart(why);
  }

  #waitForStart(why: string, wasShortage = false): void {
    this.#advance(this.#phase.crash);
    const waitMs = this.#crashes.waitMs(wasShortage);
    this.suspend("crashed", `${why}; starting again in ${waitMs} ms`, this.log.latest);
    this.#timer = setTimeout(() => this.#startAgain(), waitMs);
    this.#hold(this.#timer);
  }

  #startAgain(): void {
    this.#advance(this.#phase.due);
    this.#restarts += 1;
    this.#start();
  }

  #giveUp(why: string): void {
    this.#advance(this.#phase.giveUp);
    this.report("failed", why, [...this.log.lines]);
    this.refuse(why);
  }
}
