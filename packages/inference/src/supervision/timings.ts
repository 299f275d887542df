/** Every deadline of supervision in milliseconds. They are settings, so that tests can shorten them. */
export interface Timings {
  /** A starting engine that logs nothing for this long counts as dead. */
  readonly startSilenceMs: number;
  /** Interval between two checks of a ready engine. */
  readonly watchEveryMs: number;
  /** An engine that does not answer a status request for this long is frozen. */
  readonly unansweredMs: number;
  /** An engine that evaluates for this long without a token read or written is frozen, even if it answers status requests. */
  readonly stallMs: number;
  /** Time between the request to stop and SIGKILL. */
  readonly stopGraceMs: number;
  readonly restartFirstMs: number;
  readonly maxRestartMs: number;
  /**
   * The longest pause after a process that was ready. A single bad request can crash such a process, so it must be back soon.
   */
  readonly maxPauseAfterReadyMs: number;
  /** After this long in good health, the next crash counts as the first. */
  readonly healthyResetMs: number;
  /** An engine that was never ready has failed for good after this number of crashes in a row. */
  readonly failAfterCrashes: number;
}

/** For an engine that takes a minute to start, and answers late while others keep the processor busy. */
export const patientTimings: Timings = {
  startSilenceMs: 300_000,
  watchEveryMs: 1000,
  unansweredMs: 15_000,
  stallMs: 30_000,
  stopGraceMs: 15_000,
  restartFirstMs: 1000,
  maxRestartMs: 300_000,
  maxPauseAfterReadyMs: 10_000,
  healthyResetMs: 600_000,
  failAfterCrashes: 4,
};

export const defaultTimings: Timings = {
  startSilenceMs: 60_000,
  watchEveryMs: 1000,
  unansweredMs: 4000,
  stallMs: 30_000,
  stopGraceMs: 2000,
  restartFirstMs: 1000,
  maxRestartMs: 300_000,
  maxPauseAfterReadyMs: 10_000,
  healthyResetMs: 600_000,
  failAfterCrashes: 4,
};
