import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** Opens a connection and ignores its errors, because a reset is a normal answer to an attack. Callers may add a listener. */
export async function open(origin: string, localAddress = "127.0.0.1"): Promise<Socket> {
  const { port, hostname } = new URL(origin);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  socket.on("error", () => undefined);
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  return socket;
}

export const openMany = (origin: string, count: number, localAddress?: string): Promise<Socket[]> =>
  Promise.all(Array.from({ length: count }, () => open(origin, localAddress)));

export function closeAll(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

/** Writes a request as HTTP/1.1 text. */
export const requestText = (line: string, headers: Readonly<Record<string, string>> = {}, body = ""): string =>
  [
    `${line} HTTP/1.1`,
    ...Object.entries({ host: "pressure", ...headers }).map(([name, value]) => `${name}: ${value}`),
    "",
    body,
  ].join("\r\n");

export const chatHead = (token: string, headers: Readonly<Record<string, string>>): string =>
  requestText("POST /v1/chat/completions", {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    ...headers,
  });

/** Resolves after `ms` milliseconds, or when the signal is aborted. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  wait(ms, undefined, { signal }).catch(() => undefined);

/** Runs `count` loops that repeat the action until the signal. A failed action is tried again after a moment. */
export async function repeatedly(count: number, signal: AbortSignal, act: () => Promise<unknown>): Promise<void> {
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await act();
      } catch {
        await pause(10, signal);
      }
    }
  };
  await Promise.all(Array.from({ length: count }, loop));
}

/** Counts how often each value occurred, for a line of the report. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(word: number | string): void {
    this.#counts.set(String(word), this.of(word) + 1);
  }

  of(word: number | string): number {
    return this.#counts.get(String(word)) ?? 0;
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Returns true if no other value occurred. */
  holdsOnly(...words: readonly (number | string)[]): boolean {
    return [...this.#counts.keys()].every((word) => words.map(String).includes(word));
  }

  toString(): string {
    const words = [...this.#counts]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([word, count]) => `${count} × ${word}`);
    return words.length === 0 ? "none" : words.join(", ");
  }
}
