import type { IncomingMessage } from "node:http";
import { setImmediate as nextRound, setTimeout as wait } from "node:timers/promises";
import { FairQueue } from "@parley/inference";
import type { FairJob } from "@parley/inference";

/** The milliseconds that the requests of one round of the event loop may take together. A single request may take longer. */
const roundMs = 2;
/** While connections keep arriving, no request begins for at most so many rounds. */
const mostPausedRounds = 32;
/** Each sender is reduced to one of so many numbers, so that invented names take no memory. */
const senders = 1024;
const never = new AbortController().signal;

/**
 * Starts a few requests in each round of the event loop when many arrive at once. A probe on a new connection then waits for
 * those few instead of for all of them. Node accepts one connection per round, so no request starts while another connection
 * waits to be accepted.
 */
export class LoopTurns {
  readonly #heads = new FairQueue(1);
  readonly #bodies = new FairQueue(1);
  readonly #chunks = new FairQueue(1);
  #accepted = 0;
  /** The time at which the first request of this round began. */
  #roundStartedMs: number | undefined;

  /** To be called for every new connection. */
  noteConnection(): void {
    this.#accepted += 1;
  }

  /** Waits until it is the turn of a head. @param sender whom it claims to be from */
  forHead(sender: string): Promise<void> {
    return this.#turn(this.#heads, { keyId: numberOf(sender), cost: 1 }, never);
  }

  /** Waits until it is the turn of a body of so many bytes. @throws the signal's reason when it aborts first */
  forBody(keyId: string, bytes: number, signal: AbortSignal): Promise<void> {
    return this.#turn(this.#bodies, { keyId, cost: bytes }, signal);
  }

  /** Waits for the turn of a connection whose body comes in tiny chunks. It may then be read for a round of the event loop. */
  forChunks(sender: string): Promise<void> {
    return this.#turn(this.#chunks, { keyId: numberOf(sender), cost: 1 }, never, untilRead);
  }

  async #turn(queue: FairQueue, job: FairJob, signal: AbortSignal, untilNext = this.#untilNext): Promise<void> {
    const end = await queue.enter(job, signal);
    void untilNext().finally(end);
  }

  readonly #untilNext = async (): Promise<void> => {
    if (this.#roundStartedMs === undefined) {
      this.#roundStartedMs = performance.now();
      setImmediate(() => (this.#roundStartedMs = undefined));
    }
    const startedMs = this.#roundStartedMs;
    await untilSettled();
    if (performance.now() - startedMs < roundMs) return;
    // The first one may still be of the same round.
    await nextRound();
    for (let round = 0; round < mostPausedRounds; round += 1) {
      const before = this.#accepted;
      await nextRound();
      if (this.#accepted === before) return;
    }
  };
}

/** Waits until a connection has been read, and then as long again, so that everything else gets as much time. */
async function untilRead(): Promise<void> {
  const startedMs = performance.now();
  await nextRound();
  await nextRound();
  await wait(performance.now() - startedMs);
}

/** Nobody has looked at the key yet: whoever sends another one each time is served like many senders. */
export const senderOf = ({ headers, socket }: IncomingMessage): string =>
  headers.authorization ?? socket.remoteAddress ?? "";

/** The same for the same sender. Some senders share one, and then their turns. */
export function numberOf(sender: string): string {
  const bytes = Buffer.from(sender.slice(0, 64), "latin1");
  return String(bytes.reduce((hash, byte) => (Math.imul(hash, 31) + byte) >>> 0, 0) % senders);
}

/** Resolves when whatever promises have set going has come to a wait for something outside. */
const untilSettled = (): Promise<void> => new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
