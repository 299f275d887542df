import type { Socket } from "node:net";
import { chat } from "../ask.ts";
import { aim, figure } from "../row.ts";
import type { Row } from "../row.ts";
import { closeAll, open, openMany, pause, repeatedly, requestText, Tally } from "../sockets.ts";

const settings = { PARLEY_MAX_SOCKETS: "100" };
const count = 100;
/** Requests that need no key, or have none. The last ones are answered with megabytes that the attacker does not read. */
const requests = [
  requestText("GET /health"),
  requestText("GET /v1/models"),
  requestText("POST /v1/chat/completions", { "content-length": "1000" }),
  requestText("GET /docs").repeat(10),
];

interface Kept {
  readonly name: string;
  readonly action: string;
  /** Opens connection number `place` and sends its request. */
  readonly ask: (origin: string, token: string, place: number) => Promise<Socket>;
}

/** A row that keeps all its connections open, and reopens those that the server closes. */
const keptRow = ({ name, action, ask }: Kept): Row => ({
  name: `sockets/${name}`,
  action: `100 connections ${action}, with PARLEY_MAX_SOCKETS=100`,
  engine: "scripted",
  settings,
  attack: async ({ target: { origin }, signal, makeKey }) => {
    const { token } = await makeKey();
    const sockets = await Promise.all(Array.from({ length: count }, (_, place) => ask(origin, token, place)));
    const answers = new Tally();
    // The neighbour has its connection from before the attack. These callers connect during the attack.
    await repeatedly(1, signal, async () => {
      await pause(200, signal);
      answers.add(
        await chat(origin, token).then(
          ({ status }) => status,
          (error: unknown) => (error instanceof Error ? error.message : String(error)),
        ),
      );
      for (const [place, socket] of sockets.entries())
        if (socket.closed) sockets[place] = await ask(origin, token, place);
    });
    closeAll(sockets);
    return [aim("callers who come now are served", answers.holdsOnly(200), String(answers))];
  },
});

export const socketsOfStrangers = keptRow({
  name: "strangers",
  action: "that send a request without a key and stay",
  ask: async (origin, _token, place) => {
    const socket = await open(origin);
    socket.write(requests[place % requests.length] ?? "");
    return socket;
  },
});

export const socketsOfAddresses = keptRow({
  name: "addresses",
  action: "with a key that ask and stay, from four addresses",
  ask: async (origin, token, place) => {
    const socket = await open(origin, `127.0.0.${2 + (place % 4)}`);
    socket.resume().write(requestText("GET /v1/models", { authorization: `Bearer ${token}` }));
    return socket;
  },
});

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
