/** The load on every subject. It is bounded, and stays on loopback. */
export interface Duty {
  readonly name: "full" | "short" | "smoke";
  readonly rounds: number;
  /** Measured time of a row in seconds, after its warm-up. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly manyStreams: number;
  readonly fewStreams: number;
  readonly silentStreams: number;
  readonly settleSeconds: number;
  readonly burst: number;
  readonly broken: number;
  readonly connections: number;
  /** Measured time of the row of answers per second. */
  readonly connectionsSeconds: number;
  /** Time that the engine takes for one of those answers. */
  readonly answerSeconds: number;
}

export const duties: Readonly<Record<Duty["name"], Duty>> = {
  full: {
    name: "full",
    rounds: 3,
    seconds: 4,
    // A large server in Node gets cheaper for about 15 seconds, while V8 compiles it. A server in production is warm.
    warmUpSeconds: 5,
    manyStreams: 500,
    fewStreams: 100,
    silentStreams: 5000,
    settleSeconds: 5,
    burst: 5000,
    broken: 3000,
    connections: 1000,
    connectionsSeconds: 10,
    answerSeconds: 3.2,
  },
  short: {
    name: "short",
    rounds: 1,
    seconds: 2,
    warmUpSeconds: 0.5,
    manyStreams: 500,
    fewStreams: 100,
    silentStreams: 1000,
    settleSeconds: 2,
    burst: 1000,
    broken: 600,
    connections: 1000,
    connectionsSeconds: 4,
    answerSeconds: 3.2,
  },
  smoke: {
    name: "smoke",
    rounds: 1,
    seconds: 0.4,
    warmUpSeconds: 0.1,
    manyStreams: 100,
    fewStreams: 20,
    silentStreams: 100,
    settleSeconds: 0.3,
    burst: 200,
    broken: 100,
    connections: 50,
    connectionsSeconds: 0.5,
    answerSeconds: 0.32,
  },
};

/** Descriptors that a gateway and the bench need besides those of its streams. */
const spareFiles = 1000;

/** A gateway needs two open files per stream, one to each side. @returns the number of streams that the limit of open files allows */
export const maxStreams = (openFiles: number): number => Math.max(1, Math.floor((openFiles - spareFiles) / 2));

/** Reduces a duty to fit the limit of open files. */
export function within(duty: Duty, openFiles: number): Duty {
  const most = maxStreams(openFiles);
  const { silentStreams, burst, broken } = duty;
  return {
    ...duty,
    silentStreams: Math.min(silentStreams, most),
    burst: Math.min(burst, most),
    broken: Math.min(broken, most),
  };
}
