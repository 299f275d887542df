import type { Socket } from "node:net";
import { chat } from "../ask.ts";
import { aim, figure } from "../row.ts";
import type { Row } from "../row.ts";
import { closeAll, open, openMany, pause, repeatedly, requestText, Tally } from "../sockets.ts";

const settings = { PARLEY_MAX_SOCKETS: "100" };
const count = 100;
/** What needs no key, or has none. The last ones are answered with megabytes, which nobody reads. */
const requests = [
  requestText("GET /health"),
  requestText("GET /v1/models"),
  requestText("POST /v1/chat/completions", { "content-length": "1000" }),
  requestText("GET /docs").repeat(10),
];

/** What callers are answered who come now. The neighbour itself keeps a connection that it had before. */
async function askWhile(
  origin: string,
  token: string,
  signal: AbortSignal,
  keepFull: () => Promise<void>,
): Promise<Tally> {
  const answers = new Tally();
  await repeatedly(1, signal, async () => {
    await pause(200, signal);
    const ended = chat(origin, token).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    answers.add(await ended);
    await keepFull();
  });
  return answers;
}

export const socketsOfStrangers: Row = {
  name: "sockets/strangers",
  action: "100 connections that send a request without a key and stay, with PARLEY_MAX_SOCKETS=100",
  engine: "scripted",
  settings,
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const sockets = await openMany(target.origin, count);
    const askAgain = async (place: number): Promise<void> => {
      if (sockets[place]?.closed) sockets[place] = await open(target.origin);
      sockets[place]?.write(requests[place % requests.length] ?? "");
    };
    await Promise.all(sockets.keys().map(askAgain));
    const answers = await askWhile(target.origin, token, signal, async () => {
      for (const [place, socket] of sockets.entries()) if (socket.closed) await askAgain(place);
    });
    closeAll(sockets);
    return [aim("callers who come now are served", answers.holdsOnly(200), String(answers))];
  },
};

export const socketsOfAddresses: Row = {
  name: "sockets/addresses",
  action: "100 connections with a key that ask and stay, from four addresses, with PARLEY_MAX_SOCKETS=100",
  engine: "scripted",
  settings,
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const request = requestText("GET /v1/models", { authorization: `Bearer ${token}` });
    const ask = async (place: number): Promise<Socket> => {
      const socket = await open(target.origin, `127.0.0.${2 + (place % 4)}`);
      socket.resume().write(request);
      return socket;
    };
    const sockets = await Promise.all(Array.from({ length: count }, (_, place) => ask(place)));
    const answers = await askWhile(target.origin, token, signal, async () => {
      for (const [place, socket] of sockets.entries()) if (socket.closed) sockets[place] = await ask(place);
    });
    closeAll(sockets);
    return [aim("callers who come now are served", answers.holdsOnly(200), String(answers))];
  },
};

export const socketsOfProbes: Row = {
  name: "sockets/probes",
  action: "100 connections with a key and PARLEY_MAX_SOCKETS=100, and as many from another address as it can open",
  engine: "scripted",
  settings,
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const sockets = await openMany(target.origin, count);
    const request = requestText("GET /v1/models", { authorization: `Bearer ${token}` });
    for (const socket of sockets) socket.resume().write(request);
    await pause(500, signal);
    let opened = 0;
    await repeatedly(32, signal, async () => {
      const socket = (await open(target.origin, "127.0.0.2")).resume();
      const closed = new Promise((resolve) => void socket.once("close", resolve));
      await Promise.race([closed, pause(1000, signal)]);
      closeAll([socket]);
      opened += 1;
    });
    closeAll(sockets);
    return [figure("connections of the other address", opened)];
  },
};
