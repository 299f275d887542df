import type { ScriptStep } from "@parley/inference";
import { chat, play } from "../ask.ts";
import { bound } from "../row.ts";
import type { Row } from "../row.ts";
import { repeatedly, Tally } from "../sockets.ts";

const eight = [0, 1, 2, 3, 4, 5, 6, 7];
/** Eight choices that take 4 s. */
const slow: readonly ScriptStep[] = [
  ...eight.map((choice) => ({ role: true as const, choice })),
  { repeat: 40, steps: [{ text: "a " }, { wait_ms: 100 }] },
  ...eight.map((choice) => ({ finish: "stop" as const, choice })),
];
/** One choice that takes 2 s. */
const brief: readonly ScriptStep[] = [{ role: true }, { text: "a" }, { wait_ms: 2000 }, { finish: "stop" }];

export const queueOneKey: Row = {
  name: "queue/one-key",
  action: "one key keeps 8 streams of 8 choices running, 4 s each, and 64 more waiting",
  engine: "scripted",
  scenarios: { slow },
  seconds: 20,
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const answers = new Tally();
    await repeatedly(72, signal, async () => {
      const { status } = await chat(target.origin, token, { ...play("slow"), n: 8, stream: true }, { signal });
      answers.add(status);
    });
    return [bound("only 200 and 429", answers.holdsOnly(200, 429), String(answers))];
  },
};

export const queueManyKeys: Row = {
  name: "queue/many-keys",
  action: "20 keys send 8 requests of 2 s each at once, again and again",
  engine: "scripted",
  scenarios: { brief },
  seconds: 15,
  attack: async ({ target, signal, makeKey }) => {
    const keys = [];
    for (let count = 0; count < 20; count += 1) keys.push(await makeKey());
    const answers = new Tally();
    let silent = 0;
    await Promise.all(
      keys.map(({ token }) =>
        repeatedly(8, signal, async () => {
          const { status, headers } = await chat(target.origin, token, play("brief"), { signal });
          answers.add(status);
          if (status === 429 && headers["retry-after"] === undefined) silent += 1;
        }),
      ),
    );
    return [
      bound("only 200 and 429", answers.holdsOnly(200, 429), String(answers)),
      bound("every 429 says when to come back", silent === 0, `${silent} did not`),
    ];
  },
};

/** Schema of a string of at least 8000 characters, so that no choice ends early. */
const longString = { type: "string", minLength: 8000 };
const longFormat = {
  type: "json_schema",
  json_schema: {
    name: "a",
    strict: true,
    schema: { type: "object", properties: { a: longString }, required: ["a"], additionalProperties: false },
  },
};

export const queueLongChoices: Row = {
  name: "queue/long-choices",
  action: "one key keeps all slots of the embedded engine with requests of 8 choices that take half a minute",
  engine: "embedded",
  seconds: 20,
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const answers = new Tally();
    await repeatedly(2, signal, async () => {
      const members = { n: 8, max_tokens: 4000, response_format: longFormat };
      answers.add((await chat(target.origin, token, members, { signal })).status);
    });
    return [bound("only 200 and 429", answers.holdsOnly(200, 429), String(answers))];
  },
};
