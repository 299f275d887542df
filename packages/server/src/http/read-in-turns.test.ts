import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { exchangeOpener } from "./exchange.ts";
import { LoopTurns } from "./loop-turns.ts";
import { readInTurns } from "./read-in-turns.ts";
import { answerEarly } from "./unread-body.ts";

const shutdown = new AbortController().signal;
const open = exchangeOpener({ requestTimeoutMs: 60_000, shutdown, addressOf: () => "", elapsedMs: () => 0 });

type Read = (req: IncomingMessage, res: ServerResponse, turns: LoopTurns) => void;

const readWhole: Read = (req, res, turns) => {
  req.on("end", () => res.end());
  readInTurns(req, turns);
};
const discard: Read = (req, res, turns) => answerEarly(open(req, res), Buffer.from("No."), turns);

/** Sends `bodies` bodies at once. @returns the number of chunks that arrived in each round of the event loop */
async function chunksOfRounds(bodies: number, text: string, read: Read): Promise<number[]> {
  const turns = new LoopTurns();
  const rounds: number[] = [];
  let chunks = 0;
  const endRound = (): void => {
    rounds.push(chunks);
    chunks = 0;
  };
  const server = createServer((req, res) => {
    req.on("data", () => {
      chunks += 1;
      if (chunks === 1) setImmediate(endRound);
    });
    read(req, res, turns);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const head = "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
  const sockets = Array.from({ length: bodies }, () => connect(port, "127.0.0.1").resume());
  const ended = sockets.map((socket) => once(socket, "close"));
  for (const socket of sockets) socket.write(`${head}${text}0\r\n\r\n`);
  await Promise.all(ended);
  return rounds;
}

const tiny = "1\r\n \r\n";
/** Node reads up to 64 KB of a connection before a pause takes effect. */
const maxOfOneRead = (64 * 1024) / tiny.length + 1;

/** Each body is read once before it has to wait for its turn. So up to four rounds may read more than one body. */
const afterThose = (rounds: readonly number[]): number => rounds.toSorted((a, b) => b - a)[4] ?? 0;

test("bodies in tiny chunks are read one at a time, 64 KB in a round", async () => {
  const rounds = await chunksOfRounds(4, tiny.repeat(100_000), readWhole);
  expect(rounds.reduce((sum, chunks) => sum + chunks)).toBe(400_000);
  expect(Math.max(...rounds)).toBeLessThanOrEqual(4 * maxOfOneRead);
  expect(afterThose(rounds)).toBeLessThanOrEqual(maxOfOneRead);
});

test("the discarded rest of such bodies is read in the same way", async () => {
  const rounds = await chunksOfRounds(4, tiny.repeat(100_000), discard);
  expect(Math.max(...rounds)).toBeLessThanOrEqual(4 * maxOfOneRead);
  expect(afterThose(rounds)).toBeLessThanOrEqual(maxOfOneRead);
});
