import { post, say, toBody } from "../ask.ts";
import { aim, bound, figure } from "../row.ts";
import type { Row } from "../row.ts";
import { chatHead, closeAll, openMany, pause, repeatedly, Tally } from "../sockets.ts";

const longPrompt = JSON.stringify(toBody(say("a word and another ".repeat(13_000))));
/** A key with requests left but no tokens, which reaches the second gate. */
const spentTokens = { tokensPerMinute: 1 };

export const gateHungUpPrompts: Row = {
  name: "gate/hung-up-prompts",
  action: "a key without tokens left sends 150 prompts of 250 kB and hangs up after 120 ms, every second",
  engine: "embedded",
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey(spentTokens);
    let rounds = 0;
    while (!signal.aborted) {
      const hangUp = AbortSignal.timeout(120);
      const sent = Array.from({ length: 150 }, () => post(target.origin, token, longPrompt, { signal: hangUp }));
      await Promise.allSettled(sent);
      rounds += 1;
      await pause(880, signal);
    }
    return [figure("rounds", rounds)];
  },
};

export const gateManyPrompts: Row = {
  name: "gate/many-prompts",
  action: "a key without tokens left sends prompts of 250 kB, 16 at a time",
  engine: "embedded",
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey(spentTokens);
    const answers = new Tally();
    await repeatedly(16, signal, async () => answers.add((await post(target.origin, token, longPrompt)).status));
    return [bound("each is refused", answers.holdsOnly(400, 429), String(answers))];
  },
};

export const gateSpentRequests: Row = {
  name: "gate/spent-requests",
  action: "a key without requests left sends bodies of 4 MB, 16 at a time",
  engine: "scripted",
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey({ requestsPerMinute: 1 });
    const body = Buffer.from(JSON.stringify(toBody(say("x".repeat(4_190_000)))));
    await post(target.origin, token, body);
    const answers = new Tally();
    // The connection may be reset while the body is still being sent.
    await repeatedly(16, signal, async () => answers.add((await post(target.origin, token, body)).status));
    return [bound("each is refused with 429", answers.holdsOnly(429, 400), String(answers))];
  },
};

export const gateUnfinishedBodies: Row = {
  name: "gate/unfinished-bodies",
  action: "150 bodies of 4 MB without the last byte",
  engine: "scripted",
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const head = chatHead(token, { "content-length": "4194304" });
    const body = Buffer.alloc(4_194_303, " ");
    const sockets = await openMany(target.origin, 150);
    for (const socket of sockets) {
      socket.resume().write(head);
      socket.write(body);
    }
    await pause(60_000, signal);
    const waiting = sockets.filter((socket) => !socket.destroyed && socket.bytesRead === 0).length;
    closeAll(sockets);
    // The bound is 32 MiB per key, so eight bodies of 4 MiB.
    return [aim("bodies that are kept, at most 8", waiting <= 8, waiting)];
  },
};
