import { Agent } from "node:http";
import { ask } from "../ask.ts";
import type { Question } from "../ask.ts";
import { bound } from "../row.ts";
import type { Row } from "../row.ts";
import { repeatedly, Tally } from "../sockets.ts";

/** A row that sends small requests as fast as sixteen kept connections take them. */
const flood = (
  name: string,
  action: string,
  question: Omit<Question, "url"> & { path: string },
  statuses: number[],
): Row => ({
  name: `flood/${name}`,
  action: `without a key: ${action} on 16 kept connections`,
  engine: "scripted",
  attack: async ({ target, signal }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const answers = new Tally();
    await repeatedly(16, signal, async () => {
      answers.add((await ask({ ...question, agent, url: target.origin + question.path })).status);
    });
    agent.destroy();
    return [bound(`only ${statuses.join(" and ")}`, answers.holdsOnly(...statuses), String(answers))];
  },
});

const preflight = { origin: "https://example.com", "access-control-request-method": "POST" };
const token = `parley_0123456789ab.${"x".repeat(43)}`;

export const floodOptions = flood(
  "options",
  "OPTIONS",
  { method: "OPTIONS", path: "/v1/chat/completions", headers: preflight },
  [204],
);
export const floodHead = flood("head", "HEAD /docs", { method: "HEAD", path: "/docs" }, [200]);
export const floodWrongKeys = flood(
  "wrong-keys",
  "wrong keys",
  { method: "POST", path: "/v1/chat/completions", token, body: "{}" },
  [401],
);
/** Sends a different key each time, in a header of maximum length. State that is kept per key would add up. */
export const floodKeyIds: Row = {
  name: "flood/key-ids",
  action: "without a key: another key of 15 KB each time on 16 kept connections",
  engine: "scripted",
  attack: async ({ target, signal }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const answers = new Tally();
    let turn = 0;
    await repeatedly(16, signal, async () => {
      const id = (turn += 1).toString(16).padStart(12, "0");
      const url = `${target.origin}/v1/models`;
      answers.add((await ask({ url, agent, token: `parley_${id}.${"x".repeat(15_000)}` })).status);
    });
    agent.destroy();
    return [bound("only 401", answers.holdsOnly(401), String(answers))];
  },
};

export const floodDocs = flood("docs", "GET /docs, all of it read,", { path: "/docs" }, [200]);
