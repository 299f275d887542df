import { createServer, request as ask } from "node:http";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { examineFront } from "../src/examine-front/examine-front.ts";
import type { ExamineFrontOptions } from "../src/examine-front/examine-front.ts";
import type { Finding } from "../src/finding.ts";
import type { RemoteOptions } from "../src/remote/remote-engine.ts";
import { openWorkers } from "../testing/caching-workers.ts";
import type { Workers } from "../testing/caching-workers.ts";
import { closing, start } from "../testing/remote-places.ts";
import { startElsewhere } from "../testing/vllm/start-vllm.ts";

/** `engine doctor --front` on workers with a prompt cache, behind fronts that do well, badly, or lie. */

interface Asked {
  readonly session: string;
  /** The number of POST requests before this one. Lists and metrics are asked for at any time. */
  readonly turn: number;
  readonly body: string;
}

interface Behaviour {
  /** Returns the number of the worker. */
  readonly choose: (asked: Asked) => number;
  /** Says whether it reads the answer of a worker to its end although its client hung up. @param number counts from 1 */
  readonly ignoresHangUp?: (number: number) => boolean;
  /** Answers in place of a worker. */
  readonly answerItself?: (asked: Asked) => string | undefined;
  /** Returns the body that a worker gets. */
  readonly replace?: (asked: Asked) => string;
  /** Changes a part of a worker's answer. */
  readonly rewrite?: (part: string, asked: Asked) => string;
}

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on a port has an address.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function openFront({ workers }: Workers, behaviour: Behaviour): Promise<string> {
  for (const worker of workers) worker.listed = { ...worker.listed, max_model_len: 1024 };
  let [turn, hangUps] = [0, 0];
  const forward = async (near: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isPost = near.method === "POST";
    const asked = { session: String(near.headers["x-session-id"]), turn, body: await text(near) };
    if (isPost) turn += 1;
    const own = isPost ? behaviour.answerItself?.(asked) : undefined;
    if (own !== undefined) return void response.end(own);
    const { url = "" } = workers[behaviour.choose(asked) % workers.length] ?? {};
    const { rewrite = (part) => part } = behaviour;
    const far = ask(`${url}${near.url}`, { method: near.method }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { "content-type": "text/event-stream" });
      answer.on("data", (data: Buffer) => response.write(rewrite(data.toString(), asked)));
      answer.on("end", () => response.end());
      answer.on("error", () => response.destroy());
    });
    far.on("error", () => response.destroy());
    response.on("close", () => {
      if (!response.writableFinished && behaviour.ignoresHangUp?.((hangUps += 1)) !== true) far.destroy();
    });
    far.end(behaviour.replace?.(asked) ?? asked.body);
  };
  return listen(createServer((near, response) => void forward(near, response)));
}

type Examined = Readonly<Record<string, Finding>>;

async function examine(
  url: string,
  options: Partial<ExamineFrontOptions> = {},
  settings: Partial<RemoteOptions> = {},
): Promise<Examined> {
  const protocol = options.protocol ?? "completions";
  const engine = await start([{ url }], { front: "vllm-router", isSalted: true, protocol, ...settings });
  const given = { advice: "use the policy that works", patienceMs: 10_000, engines: [], protocol, ...options };
  const findings = await examineFront("m", engine, given);
  return Object.fromEntries(findings.map((finding) => [finding.topic.slice("m: ".length), finding]));
}

const bySession: Behaviour["choose"] = ({ session }) => Buffer.from(session).reduce((sum, byte) => sum + byte, 0);
const inTurn: Behaviour["choose"] = ({ turn }) => turn;
const problems = (examined: Examined): string[] =>
  Object.entries(examined).flatMap(([topic, { problem }]) => (problem === "" ? [] : [topic]));

test("finds no problem in a front that keeps sessions and passes hang-ups on", async () => {
  const all = await openWorkers(2);
  const engines = all.workers.map(({ url }) => url);
  const seen = await examine(await openFront(all, { choose: bySession }), { engines });
  expect(problems(seen)).toEqual([]);
  expect(seen["cache"]?.seen).toContain("8 of 8 second turns");
  expect(seen["engines"]?.seen).toContain("at least 2 answered 24 sessions");
  expect(seen["engines' counters"]?.seen).toMatch(/^2 of 2 engines read prompts \(\d+, \d+ tokens\)/);
  expect(seen["hang-ups"]?.seen).toMatch(/the engines generated \d{1,2}\d?;? ?|stopped/);
});

test("knows the cache of an engine with long blocks, of which a prompt fills only some", async () => {
  const all = await openWorkers(2, "completions", 256);
  const seen = await examine(await openFront(all, { choose: bySession }));
  expect(seen["cache"]).toMatchObject({ problem: "", seen: expect.stringContaining("8 of 8 second turns") });
  const other = await openWorkers(2, "completions", 256);
  const changing = await examine(await openFront(other, { choose: inTurn }));
  expect(changing["cache"]?.problem).toMatch(/use the policy that works/);
});

test.each<[string, Behaviour["choose"], RegExp]>([
  ["and conversations that stay", bySession, /^$/],
  ["and conversations that change the engine", inTurn, /use the policy that works/],
])(
  "reads the caches of engines in their counters where keys share cached prompts, %s",
  async (_title, choose, problem) => {
    const all = await openWorkers(2, "chat");
    const front = await openFront(all, { choose });
    const protocol = "chat";
    const hidden = await examine(front, { protocol }, { isSalted: false });
    expect(hidden["cache"]?.problem).toMatch(/reuses the prompts of one key for another: .* --engines/);
    const counted = await examine(front, { protocol, engines: all.workers.map(({ url }) => url) }, { isSalted: false });
    expect(counted["cache"]?.problem).toMatch(problem);
    expect(counted["engines"]?.seen).toContain("at least 2 answered 24 sessions");
  },
);

test.each<[string, Behaviour["ignoresHangUp"], string]>([
  ["each stops when its client hangs up", undefined, "the engines stopped, as their caches show for 3 of them"],
  ["one of three stops late", (number) => number === 1, "1 of 3 were generated for half of their length or more"],
])("finds no problem in engines without counters if %s", async (_title, ignoresHangUp, said) => {
  const front = await openFront(await openWorkers(2), { choose: bySession, ...(ignoresHangUp && { ignoresHangUp }) });
  const seen = await examine(front);
  expect(seen["hang-ups"]).toMatchObject({ problem: "", seen: expect.stringContaining(said) });
});

test.each<[string, readonly string[]]>([
  ["by the caches of the engines", []],
  ["and by their counters, too", ["engines"]],
])("sees that a front ignores hang-ups, %s", async (_title, [isCounted]) => {
  const all = await openWorkers(2);
  const front = await openFront(all, { choose: bySession, ignoresHangUp: () => true });
  const seen = await examine(front, { engines: isCounted === undefined ? [] : all.workers.map(({ url }) => url) });
  expect(problems(seen)).toEqual(["hang-ups"]);
  expect(seen["hang-ups"]?.problem).toMatch(/does not pass hang-ups on/);
});

test("says how to see hang-ups where the caches do not show them, and sees them by the counters", async () => {
  const all = await openWorkers(2, "chat");
  const front = await openFront(all, { choose: bySession, ignoresHangUp: () => true });
  const seen = await examine(front, { protocol: "chat" });
  expect(seen["hang-ups"]).toMatchObject({
    problem: "",
    seen: expect.stringMatching(/cannot be seen from here.*--engines/),
  });
  const counted = await examine(front, { protocol: "chat", engines: all.workers.map(({ url }) => url) });
  expect(counted["hang-ups"]?.problem).toMatch(/does not pass hang-ups on/);
});

test("sees that a front sends everything to one engine", async () => {
  const all = await openWorkers(2);
  const seen = await examine(await openFront(all, { choose: () => 0 }), { engines: all.workers.map(({ url }) => url) });
  expect(problems(seen)).toEqual(["engines' counters"]);
  expect(seen["engines"]?.seen).toContain("at least 1 answered 24 sessions");
  expect(seen["engines' counters"]).toMatchObject({
    problem: expect.stringMatching(/leaves engines without work.*use the policy that works/),
    seen: expect.stringMatching(/^1 of 2 engines/),
  });
});

test.each([2, 3])("sees that conversations change among %i engines, and names the setting", async (count) => {
  const seen = await examine(await openFront(await openWorkers(count), { choose: inTurn }));
  expect(seen["cache"]?.problem).toMatch(/use the policy that works/);
  expect(seen["cache"]?.seen).toMatch(/^[0-7] of 8/);
  expect(seen["engines"]?.seen).toContain(`at least ${count} answered`);
});

test("sees that a front swaps the engines of its sessions", async () => {
  const swap: Behaviour["choose"] = (asked) => bySession(asked) + Math.floor(asked.turn / 5);
  const seen = await examine(await openFront(await openWorkers(2), { choose: swap }));
  expect(seen["cache"]?.problem).toMatch(/Conversations change the engine: use the policy that works/);
});

test("sees that the number of token ids decides the engine", async () => {
  const lengthOf = (body: string): number =>
    body === "" ? 0 : (JSON.parse(body) as { prompt: number[] }).prompt.length; // written by the engine under test
  const seen = await examine(await openFront(await openWorkers(2), { choose: ({ body }) => lengthOf(body) }));
  expect(seen["engines"]).toMatchObject({
    problem: expect.stringMatching(/The length of a prompt decides.*use the policy that works/),
    seen: "12 prompts of one length went to 1 engine, and 12 of different lengths to 2",
  });
});

test("sees that a front answers from its own cache of answers", async () => {
  const answers = new Map<string, string>();
  const all = await openWorkers(2);
  const front = await openFront(all, {
    choose: bySession,
    answerItself: ({ body }) => answers.get(body),
    rewrite: (part, { body }) => {
      answers.set(body, (answers.get(body) ?? "") + part);
      return part;
    },
  });
  const seen = await examine(front, { engines: all.workers.map(({ url }) => url) });
  expect(seen["answers"]).toMatchObject({
    problem: expect.stringMatching(/cache of whole answers/),
    seen: "3 times the same request, drawn at random, gave 1 different answers",
  });
  expect(seen["engines' counters"]?.problem).toMatch(/it answers without them/);
});

const claim = (part: string, cached: number): string =>
  part.replaceAll(/"cached_tokens":\d+/g, `"cached_tokens":${cached}`);

test("does not believe counts for prompts that nobody has sent", async () => {
  const front = await openFront(await openWorkers(1), { choose: () => 0, rewrite: (part) => claim(part, 480) });
  const seen = await examine(front);
  expect(seen["cache"]?.problem).toMatch(/Cached tokens are not counted/);
});

test("does not believe a front that claims the cached tokens of every prompt that continues another", async () => {
  const passed: string[] = [];
  const all = await openWorkers(2);
  const front = await openFront(all, {
    choose: inTurn,
    rewrite: (part, { body }) => {
      if (body === "") return part;
      // Written by the engine under test.
      const { prompt, cache_salt: salt } = JSON.parse(body) as { prompt: number[]; cache_salt: string };
      const sharedWith = (other: string): number => {
        const { prompt: ids, cache_salt: otherSalt } = JSON.parse(other) as { prompt: number[]; cache_salt: string }; // as above
        const differs = prompt.findIndex((id, index) => ids[index] !== id);
        return otherSalt === salt ? (differs < 0 ? prompt.length : differs) : 0;
      };
      const cached = Math.max(0, ...passed.map(sharedWith));
      passed.push(body);
      return claim(part, cached - (cached % 16));
    },
  });
  const seen = await examine(front, { engines: all.workers.map(({ url }) => url) });
  expect(seen["engines' counters"]?.problem).toMatch(/claim \d+ cached tokens, which is not true/);
});

test("reports the check in which a request failed, with the findings before it", async () => {
  const front = await openFront(await openWorkers(2), {
    choose: bySession,
    // Only the answers that it leaves have a bias of 100.
    rewrite: (part, { body }) => (/"logit_bias":\{[^}]*:100\b/.test(body) ? "" : part),
  });
  const seen = await examine(front);
  expect(problems(seen)).toEqual(["hang-ups"]);
  expect(Object.keys(seen)).toEqual(["cache", "engines", "answers", "hang-ups"]);
  expect(seen["hang-ups"]?.problem).toBe(
    "A request failed, so nothing more was examined: the engine ended a stream in the middle.",
  );
});

test("sees that a front mixes answers up", async () => {
  let last = "";
  const replace: Behaviour["replace"] = ({ body, turn }) => {
    const late = turn > 8 && body !== "" ? last : body;
    if (body !== "") last = body;
    return late;
  };
  const seen = await examine(await openFront(await openWorkers(2), { choose: bySession, replace }));
  expect(seen["cache"]?.problem).toMatch(/it changes prompts, or mixes answers up/);
});

test("refuses engines whose counters cannot be read", async () => {
  const all = await openWorkers(1);
  const front = await openFront(all, { choose: () => 0 });
  const [worker] = all.workers;
  if (worker) worker.metrics = () => "up 1";
  await expect(examine(front, { engines: [`${front}/v1`] })).rejects.toThrow(/metrics shows no counters of vLLM: up 1/);
  await expect(examine(front, { engines: ["http://127.0.0.1:9"] })).rejects.toThrow(/127\.0\.0\.1:9\/metrics shows no/);
});

test.each([
  [422, "generic", /it refuses prompts of token ids: set protocol: chat, or use another front/],
  [500, "production-stack", /set protocol: chat, or start it with --routing-logic session .*prefixaware answers 500/],
  [500, "ray", /set protocol: chat, or use its ConsistentHashRouter as request_router_class/],
] as const)(
  "a front that answers %i to token ids is named with the setting that would work",
  async (status, front, why) => {
    const [worker] = (await openWorkers(1)).workers;
    if (!worker) throw new Error("there is no worker");
    worker.answer = (response, body) => {
      const { prompt } = JSON.parse(body) as { prompt: unknown }; // written by the engine under test
      if (Array.isArray(prompt)) return void response.writeHead(status).end('{"detail": "cannot hash a list"}');
      response.end('{"choices": [{"text": "a"}]}');
    };
    const engine = startElsewhere([worker.url], { servedName: "there", front });
    closing.push(() => engine.close(0));
    await expect.poll(() => engine.stateReason, { timeout: 5000 }).toMatch(why);
  },
);
