import type { IncomingMessage } from "node:http";
import { setImmediate as nextRound, setTimeout as wait } from "node:timers/promises";
import { FairQueue } from "@parley/common/fair-queue";
import type { FairJob } from "@parley/common/fair-queue";

/**
 * Milliseconds after which no further request begins in the same round of the event loop. A single request may take longer.
 */
const roundMs = 2;
/** Maximum number of event loop rounds for which new connections can delay the next request. */
const maxPausedRounds = 32;
/** Number of different values that `numberOf` returns. It bounds the memory that invented sender names can take. */
const senders = 1024;
const never = new AbortController().signal;

/**
 * Spreads a burst of requests over many rounds of the event loop, a few in each. A probe on a new connection then waits for
 * a few requests instead of all. Node accepts one connection per round, so no request starts while another connection waits
 * to be accepted.
 */
export class LoopTurns {
  readonly #heads = new FairQueue(1);
  readonly #bodies = new FairQueue(1);
  readonly #chunks = new FairQueue(1);
  #accepted = 0;
  /** The time at which the first request of this round began; undefined if none has begun. */
  #roundStartedMs: number | undefined;

  /** Counts a new connection. Must be called for each of them. */
  noteConnection(): void {
    this.#accepted += 1;
  }

  /** Waits for the turn of a request head. @param sender see `senderOf`; it is not authenticated yet */
  forHead(sender: string): Promise<void> {
    return this.#turn(this.#heads, { keyId: numberOf(sender), cost: 1 }, never);
  }

  /** Waits for the turn of a body with `bytes` bytes. @throws the signal's reason when it aborts first */
  forBody(keyId: string, bytes: number, signal: AbortSignal): Promise<void> {
    return this.#turn(this.#bodies, { keyId, cost: bytes }, signal);
  }

  /**
   * Waits for the turn of a connection whose body comes in tiny chunks. The connection may then be read for one round of
   * the event loop.
   */
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
    // This wait may end in the current round, so it does not count as one of the rounds below.
    await nextRound();
    for (let round = 0; round < maxPausedRounds; round += 1) {
      const before = this.#accepted;
      await nextRound();
      if (this.#accepted === before) return;
    }
  };
}

/**
 * Waits until a connection has been read, and then for the same time again. So all other work gets at least half of the
 * time.
 */
async function untilRead(): Promise<void> {
  const startedMs = performance.now();
  await nextRound();
  await nextRound();
  await wait(performance.now() - startedMs);
}

/**
 * Returns the sender that a request claims: its `Authorization` header, or its address. The key is not verified yet, so a
 * client that sends a different key each time is treated as many senders.
 */
export const senderOf = ({ headers, socket }: IncomingMessage): string =>
  headers.authorization ?? socket.remoteAddress ?? "";

/** Returns a number for a sender, as text. Senders with the same number share their turns. */
export function numberOf(sender: string): string {
  const bytes = Buffer.from(sender.slice(0, 64), "latin1");
  return String(bytes.reduce((hash, byte) => (Math.imul(hash, 31) + byte) >>> 0, 0) % senders);
}

/** Resolves when all promise callbacks that can run now have run. */
const untilSettled = (): Promise<void> => new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
