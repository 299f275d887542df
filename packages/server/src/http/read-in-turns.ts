import type { IncomingMessage } from "node:http";
import { senderOf } from "./loop-turns.ts";
import type { LoopTurns } from "./loop-turns.ts";

/**
 * A body with more chunks than this in one round of the event loop has to wait for its turn. The chunks of ordinary bodies
 * are kilobytes long, and few.
 */
const maxChunks = 256;

/**
 * Begins to read a body, and counts its chunks. Each chunk takes time, however small it is, and Node may read megabytes of
 * a connection in one round of the event loop. So a body in tiny chunks is read 64 KB at a time, and such bodies take
 * turns.
 */
export function readInTurns(req: IncomingMessage, turns: LoopTurns): void {
  const { socket } = req;
  let chunks = 0;
  let isWaiting = false;
  const nextRound = (): void => void (chunks = 0);
  // The request resumes its socket whenever its buffer has room, which would end the pause too early.
  const stayPaused = (): void => void (isWaiting && socket.pause());
  const waitForTurn = async (): Promise<void> => {
    isWaiting = true;
    socket.pause();
    await turns.forChunks(senderOf(req));
    isWaiting = false;
    socket.resume();
  };
  socket.on("resume", stayPaused);
  req.once("close", () => socket.removeListener("resume", stayPaused));
  req.on("data", () => {
    chunks += 1;
    if (chunks === 1) setImmediate(nextRound);
    if (chunks > maxChunks && !isWaiting) void waitForTurn();
  });
}
