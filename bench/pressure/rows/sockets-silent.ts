import type { Socket } from "node:net";
import { chat } from "../ask.ts";
import { aim, figure } from "../row.ts";
import type { Row } from "../row.ts";
import { closeAll, open, openMany, pause } from "../sockets.ts";

/** Keeps `count` silent connections open, and reopens each one that is closed, until the signal. */
async function keepSilent(origin: string, count: number, signal: AbortSignal, localAddress?: string): Promise<number> {
  let opened = count;
  const sockets: Socket[] = await openMany(origin, count, localAddress);
  while (!signal.aborted) {
    for (const [place, socket] of sockets.entries()) {
      if (!socket.closed || signal.aborted) continue;
      opened += 1;
      sockets[place] = (await open(origin, localAddress)).resume();
    }
    await pause(100, signal);
  }
  closeAll(sockets);
  return opened;
}

export const socketsSilent: Row = {
  name: "sockets/silent",
  action: "100 connections that send nothing, with PARLEY_MAX_SOCKETS=100",
  engine: "scripted",
  settings: { PARLEY_MAX_SOCKETS: "100" },
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const silent = keepSilent(target.origin, 100, signal);
    await pause(500, signal);
    // The neighbour has its connection from before the attack. This caller connects during the attack.
    const newcomer = await chat(target.origin, token).then(
      ({ status }) => String(status),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const opened = await silent;
    return [figure("connections", opened), aim("a caller who comes now is served", newcomer === "200", newcomer)];
  },
};

export const socketsOfOneAddress: Row = {
  name: "sockets/one-address",
  action: "5,000 connections of one address that send nothing, with default settings",
  engine: "scripted",
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const silent = keepSilent(target.origin, 5000, signal, "127.0.0.2");
    await pause(1000, signal);
    const newcomer = await chat(target.origin, token).then(
      ({ status }) => String(status),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const opened = await silent;
    return [
      figure("connections", opened),
      aim("a caller from another address is served", newcomer === "200", newcomer),
    ];
  },
};
