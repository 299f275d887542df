import { describe, expect, test } from "vitest";
import type { Engine } from "../src/index.ts";
import { openWorkers } from "../testing/caching-workers.ts";
import type { Worker, Workers } from "../testing/caching-workers.ts";
import { answerWell, refuse, start as startWith } from "../testing/remote-places.ts";
import { askOne } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";
import { quickTimings } from "../testing/start-scripted-vllm.ts";
import { until } from "../testing/until.ts";

/** Conversations over several endpoints, with workers that count the blocks of a prompt which they have read before. */

type Messages = NonNullable<Ask["messages"]>;

const rules = { role: "system", content: "Answer in one word. Never name a price. ".repeat(12) } as const;
const opened = (name: string): Messages => [{ role: "user", content: `I am ${name}. How do I read a block header?` }];
const answered = (before: Messages, next: string): Messages => [
  ...before,
  { role: "assistant", content: "abcdefgh" },
  { role: "user", content: next },
];

/** No worker is silent in these tests, but a busy machine may answer late. */
const start: typeof startWith = (workers, changes) =>
  startWith(workers, { timings: { ...quickTimings, stallMs: 30_000 }, ...changes });

const origin = { key: "k1" };
const say = (engine: Engine, messages: Messages): Promise<unknown> =>
  askOne(engine, { messages, origin, maxTokens: 8 });
const countsOf = (workers: readonly Worker[]): number[] => workers.map(({ asked }) => asked);
const since = (workers: readonly Worker[], before: readonly number[]): number[] =>
  workers.map(({ asked }, index) => asked - (before[index] ?? 0));
const busiest = (counts: readonly number[]): number =>
  Math.max(...counts) / (counts.reduce((sum, one) => sum + one, 0) / counts.length);

/** Sends requests with several at a time. */
async function sendAll(engine: Engine, all: readonly Messages[], together: number): Promise<void> {
  const left = all.values();
  await Promise.all(
    Array.from({ length: together }, async () => {
      for (const messages of left) await say(engine, messages);
    }),
  );
}

const names = Array.from({ length: 200 }, (_, index) => `customer ${index}`);

/** Each kind makes 200 conversations that differ in another way. */
const kinds: readonly (readonly [string, (name: string) => Messages])[] = [
  [
    "different from the first word",
    (name) => [{ role: "user", content: `${name} asks. ${"Why is that? ".repeat(12)}` }],
  ],
  ["behind a long system prompt", (name) => [rules, ...opened(name)]],
  ["of two words behind a long system prompt", (name) => [rules, { role: "user", content: name }]],
  ["that begin with the same examples", (name) => answered([rules, ...opened("an example")], name)],
  [
    "of one long instruction with a short end",
    (name) => [{ role: "user", content: `${rules.content.repeat(3)}${name}` }],
  ],
];

const tried = [
  ...kinds.map(([title, begin]) => [title, "completions", begin] as const),
  ...kinds.slice(1, 2).map(([title, begin]) => [title, "chat", begin] as const),
];

test("requests with one prompt_cache_key go to one worker, whatever they begin with", async () => {
  const { workers } = await openWorkers(4);
  const engine = await start(workers);
  const chosen = async (cacheKey: string, name: string): Promise<number> => {
    const before = countsOf(workers);
    await askOne(engine, { messages: opened(name), origin: { ...origin, cacheKey }, maxTokens: 8 });
    return since(workers, before).indexOf(1);
  };
  const sameKey = [await chosen("one", "Ada"), await chosen("one", "Ben"), await chosen("one", "Cem")];
  expect(new Set(sameKey).size).toBe(1);
  const others: number[] = [];
  for (const name of names.slice(0, 8)) others.push(await chosen(name, name));
  expect(new Set(others).size).toBeGreaterThan(1);
});

test.each(tried)(
  "200 conversations %s, by %s: each worker has its part, and second turns find the first",
  async (...its) => {
    const [, protocol, begin] = its;
    const { workers, takeCached } = await openWorkers(4, protocol);
    const engine = await start(workers, { protocol });
    const before = countsOf(workers);
    const firsts = names.map((name) => begin(name));
    await sendAll(engine, firsts, 8);
    expect(busiest(since(workers, before))).toBeLessThanOrEqual(1.25);
    takeCached();
    const seconds = firsts.map((messages) => answered(messages, "And a transaction?"));
    await sendAll(engine, seconds, 8);
    const { cached, shareable } = takeCached();
    expect(shareable).toBeGreaterThan(0);
    expect(cached / shareable).toBeGreaterThanOrEqual(0.9);
    expect(busiest(since(workers, before))).toBeLessThanOrEqual(1.25);
  },
);

test("one after the other over eight workers, conversations are spread as well", async () => {
  const { workers } = await openWorkers(8);
  const engine = await start(workers);
  const before = countsOf(workers);
  await sendAll(
    engine,
    names.map((name) => [rules, ...opened(name)]),
    1,
  );
  expect(busiest(since(workers, before))).toBeLessThanOrEqual(1.25);
});

test("a single message that grows stays with its worker", async () => {
  const { workers, takeCached } = await openWorkers(4);
  const engine = await start(workers);
  const lines = (name: string, count: number): Messages => [
    { role: "user", content: `Log of ${name}. ${"The next line of a long log. ".repeat(count)}` },
  ];
  await sendAll(
    engine,
    names.slice(0, 20).map((name) => lines(name, 40)),
    1,
  );
  takeCached();
  await sendAll(
    engine,
    names.slice(0, 20).map((name) => lines(name, 50)),
    1,
  );
  const { cached, shareable } = takeCached();
  expect(cached / shareable).toBeGreaterThanOrEqual(0.9);
});

/** Sends the second turn of each conversation. Returns those whose worker did not know the first one. */
async function findMoved(engine: Engine, { takeCached }: Workers, all: readonly Messages[]): Promise<Set<number>> {
  const moved = new Set<number>();
  for (const [index, messages] of all.entries()) {
    takeCached();
    await say(engine, answered(messages, "And a transaction?"));
    const { cached, shareable } = takeCached();
    if (cached < 0.9 * shareable) moved.add(index);
  }
  return moved;
}

/** Sends the first turn of each conversation. Returns the worker that each one has reached. */
async function findWorkers(engine: Engine, workers: readonly Worker[], all: readonly Messages[]): Promise<number[]> {
  const found: number[] = [];
  for (const messages of all) {
    const before = countsOf(workers);
    await say(engine, messages);
    found.push(since(workers, before).indexOf(1));
  }
  return found;
}

describe("a server that knows nothing of the first turns, because it was restarted or is another one,", () => {
  const conversations = names.slice(0, 60).map((name) => opened(name.repeat(12)));

  // Some conversations were not sent to the worker of their opening, because that one had more than its part. A choice by
  // chance would move 45 of 60, and 30 of the 45 of the other workers.
  test("finds most workers again, and with a worker less moves most of the conversations of that one only", async () => {
    const all = await openWorkers(4);
    const homes = await findWorkers(await start(all.workers), all.workers, conversations);
    expect((await findMoved(await start(all.workers), all, conversations)).size).toBeLessThanOrEqual(20);
    const moved = await findMoved(await start(all.workers.slice(0, 3)), all, conversations);
    const others = [...moved].filter((index) => homes[index] !== 3);
    expect(moved.size).toBeGreaterThan(0);
    expect(others.length).toBeLessThanOrEqual(20);
  });

  test("with one more worker moves about the part of that one", async () => {
    const all = await openWorkers(3);
    await findWorkers(await start(all.workers), all.workers, conversations);
    await all.add();
    const moved = await findMoved(await start(all.workers), all, conversations);
    expect(moved.size).toBeLessThanOrEqual(30);
  });
});

describe("a worker", () => {
  test("that stops loses its conversations, and no other worker loses one", async () => {
    const all = await openWorkers(3);
    const { workers } = all;
    const engine = await start(workers);
    const conversations = names.slice(0, 30).map((name) => [rules, ...opened(name)] as const);
    const homes = await findWorkers(engine, workers, conversations);
    const [first] = workers;
    if (!first) throw new Error("there are workers");
    await first.stop();
    const moved = await findMoved(engine, all, conversations);
    expect([...moved].toSorted((a, b) => a - b)).toEqual(homes.flatMap((home, index) => (home === 0 ? [index] : [])));
    // The third turn finds the second one where it went.
    const third = conversations.map((messages) => answered(messages, "And a transaction?"));
    expect(await findMoved(engine, all, third)).toEqual(new Set());
  });

  test("that refuses because it is full is passed over at once, and used again later", async () => {
    const { workers } = await openWorkers(2);
    const engine = await start(workers);
    const [home] = await findWorkers(engine, workers, [opened("ann")]);
    const [busy, other] = home === 0 ? workers : workers.toReversed();
    if (!busy || !other) throw new Error("there are two workers");
    const { answer } = busy;
    busy.answer = refuse(503, '{"error": {"message": "busy"}}');
    const before = other.asked;
    await say(engine, answered(opened("ann"), "more"));
    expect(other.asked).toBe(before + 1);
    busy.answer = answer;
    await until("the worker is used again", async () => {
      const asked = busy.asked;
      await say(engine, opened(`bob ${Math.random()}`));
      return busy.asked > asked;
    });
  });

  test("does not get more than its part of many requests for one conversation at the same time", async () => {
    const { workers } = await openWorkers(2);
    const engine = await start(workers);
    await say(engine, opened("ann"));
    const held: (() => void)[] = [];
    const before = countsOf(workers);
    for (const worker of workers)
      worker.answer = (response, body, request) => void held.push(() => answerWell(response, body, request));
    const asking = Array.from({ length: 40 }, () => say(engine, opened("ann")));
    await until("all have arrived", () => held.length === 40);
    expect(Math.max(...since(workers, before))).toBeLessThanOrEqual(40 * 0.5 * 1.25 + 5);
    for (const release of held) release();
    await Promise.all(asking);
  });
});

test("the probe for cached prompts of other keys asks one worker only, so it notices that a salt is ignored", async () => {
  const { workers } = await openWorkers(4);
  for (const worker of workers) {
    const { answer } = worker;
    worker.answer = (response, body, request) =>
      answer(response, JSON.stringify({ ...JSON.parse(body), cache_salt: "" }), request);
  }
  expect((await start(workers)).metadata?.promptCache).toMatchObject({ isShared: true });
});
