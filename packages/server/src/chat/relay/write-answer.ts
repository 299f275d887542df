import type { ServerResponse } from "node:http";
import type { CollectedAnswer } from "./collect.ts";
import { waitForReader } from "./wait-for-reader.ts";
import type { ReaderOptions } from "./wait-for-reader.ts";

/**
 * Writes an answer that is not streamed, no faster than it is read, so it is in memory once.
 * @throws {HangUpError} when the reader has disconnected or read nothing for too long; the signal's reason when it aborts
 */
export async function writeAnswer(
  response: ServerResponse,
  { pieces, byteLength }: CollectedAnswer,
  options: ReaderOptions,
): Promise<void> {
  response.writeHead(200, { "content-type": "application/json; charset=utf-8", "content-length": byteLength });
  response.on("timeout", () => response.socket?.resetAndDestroy());
  for (const piece of pieces.slice(0, -1)) if (!response.write(piece)) await waitForReader(response, options);
  response.end(pieces.at(-1));
}
