/** How much is asked of every subject. All of it is bounded, and on loopback. */
export interface Duty {
  readonly name: "full" | "short" | "smoke";
  readonly rounds: number;
  /** Seconds that a row is measured, after its warm-up. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly manyStreams: number;
  readonly fewStreams: number;
  readonly silentStreams: number;
  readonly settleSeconds: number;
  readonly burst: number;
  readonly broken: number;
  readonly connections: number;
  /** For the row of answers per second. */
  readonly connectionsSeconds: number;
  /** How long the engine takes for one of its answers. */
  readonly answerSeconds: number;
}

export const duties: Readonly<Record<Duty["name"], Duty>> = {
  full: {
    name: "full",
    rounds: 3,
    seconds: 4,
    // A large server in Node gets cheaper for about 15 seconds, while V8 compiles it. A server in service is warm.
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

/** Every stream takes a gateway two open files, one to each side. @returns the most streams that its limit allows */
export const mostStreams = (openFiles: number): number => Math.max(1, Math.floor((openFiles - spareFiles) / 2));

/** The same duty within the limit of open files. */
export function within(duty: Duty, openFiles: number): Duty {
  const most = mostStreams(openFiles);
  const { silentStreams, burst, broken } = duty;
  return {
    ...duty,
    silentStreams: Math.min(silentStreams, most),
    burst: Math.min(burst, most),
    broken: Math.min(broken, most),
  };
}
