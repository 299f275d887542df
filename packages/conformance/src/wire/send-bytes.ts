import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** A request of up to this size is written at once. */
const maxSmallBytes = 262_144;
/** The longest wait after the head of a large request for an answer that comes before the body. */
const headPauseMs = 250;
const sliceBytes = 65_536;
const sliceGapMs = 20;

export const isLarge = (bytes: Buffer): boolean => bytes.length > maxSmallBytes;

/**
 * Writes a request. The body of a large one follows its head only if no answer comes first: a server may refuse it by its head
 * and close the connection. Bytes that arrive after that make its system reset the connection, and a reset can overtake the
 * answer in a relay. `isSlow` writes the body in slices until an answer begins, for a server that refuses it in the middle.
 */
export async function sendBytes(
  socket: Socket,
  bytes: Buffer,
  isSlow: boolean,
  isAnswered: () => boolean,
): Promise<void> {
  if (!isLarge(bytes)) return void socket.write(bytes);
  const isOver = (): boolean => isAnswered() || socket.destroyed;
  const headLength = bytes.indexOf("\r\n\r\n") + 4;
  socket.write(bytes.subarray(0, headLength));
  for (const endMs = performance.now() + headPauseMs; performance.now() < endMs && !isOver();) await wait(5);
  const size = isSlow ? sliceBytes : bytes.length;
  for (let at = headLength; at < bytes.length && !isOver(); at += size) {
    socket.write(bytes.subarray(at, at + size));
    if (isSlow) await wait(sliceGapMs);
  }
}
