/** Every deadline of supervision in milliseconds: configuration, so that tests shrink them. */
export interface Timings {
  /** A starting engine that writes nothing for so long is taken for dead: log lines are progress. */
  readonly startSilenceMs: number;
  /** How often a ready engine is looked at. */
  readonly watchEveryMs: number;
  /** An engine that does not even answer for so long is frozen. */
  readonly unansweredMs: number;
  /** Work under way without one token read or written for so long means the same: an answer proves little. */
  readonly stallMs: number;
  /** Between the request to stop and SIGKILL. */
  readonly stopGraceMs: number;
  readonly restartFirstMs: number;
  readonly maxRestartMs: number;
  /** The longest pause after a process that was ready. One that a request ends must not be away for long. */
  readonly maxPauseAfterReadyMs: number;
  /** After so long in good health the next crash counts as the first. */
  readonly healthyResetMs: number;
  /** An engine that was never ready has failed for good after so many crashes in a row. */
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
