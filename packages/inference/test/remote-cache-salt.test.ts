import { describe, expect, test } from "vitest";
import { chatWell, openChat } from "../testing/chat-places.ts";
import { event, letters, open, refuse, start } from "../testing/remote-places.ts";
import type { Answer, Place } from "../testing/remote-places.ts";
import { askOne } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";

/** Tests that keys do not share cached prompts, on upstreams that cache in all the ways that we have seen. */

interface Sent {
  readonly cache_salt?: string;
  readonly prompt?: unknown;
}

const sentTo = ({ requests }: Place): Sent[] => requests.map(({ body }) => JSON.parse(body) as Sent); // written by the engine under test
const lastSalt = (place: Place): string | undefined => sentTo(place).at(-1)?.cache_salt;
const askAs = (key: string, members: Ask = {}): Ask => ({ ...members, maxTokens: 8, origin: { key } });

/** Caches prompts as vLLM does. Unless `looksAtSalt`, it ignores the salt. */
function cachingPlace(looksAtSalt: boolean): Answer {
  const seen = new Set<string>();
  return (response, body) => {
    const { prompt, cache_salt: salt = "" } = JSON.parse(body) as Sent; // written by the engine under test
    const block = `${looksAtSalt ? salt : ""} ${JSON.stringify(prompt)}`;
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 8,
      prompt_tokens_details: { cached_tokens: seen.has(block) ? 7 : 0 },
    };
    seen.add(block);
    response.end(event({ choices: [{ token_ids: [...letters], finish_reason: "length" }], usage }) + event("[DONE]"));
  };
}

const cachedFor = async (engine: Parameters<typeof askOne>[0], key: string): Promise<number> =>
  (await askOne(engine, askAs(key))).usage.cachedTokens;

describe("every request by token ids carries a salt", () => {
  test("of its key: the same for all its requests and choices, another for another key, one that vLLM takes", async () => {
    const place = await open();
    const engine = await start([place]);
    const salts: (string | undefined)[] = [];
    for (const key of ["a", "a", "b"]) {
      await askOne(engine, askAs(key));
      salts.push(lastSalt(place));
    }
    expect(salts[1]).toBe(salts[0]);
    expect(salts[2]).not.toBe(salts[0]);
    // vLLM 0.32.0 accepts 128 characters other than "@", "/" and "\".
    for (const salt of salts) expect(salt).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  test("that others cannot compute: another secret gives other salts", async () => {
    const salts = await Promise.all(
      [1, 2].map(async (byte) => {
        const place = await open();
        await askOne(await start([place], { cacheSecret: Buffer.alloc(32, byte) }), askAs("a"));
        return lastSalt(place);
      }),
    );
    expect(new Set(salts).size).toBe(2);
  });

  test("that differs for each request if the key is unknown", async () => {
    const place = await open();
    const engine = await start([place]);
    for (let turn = 0; turn < 2; turn += 1) await askOne(engine, { maxTokens: 8 });
    const [first, second] = sentTo(place).slice(-2);
    expect(first?.cache_salt).toMatch(/^.{43}$/);
    expect(second?.cache_salt).not.toBe(first?.cache_salt);
  });
});

describe("when it becomes ready, it is tried whether", () => {
  test("keys are kept apart", async () => {
    const place = await open(cachingPlace(true));
    const engine = await start([place]);
    expect(engine.metadata?.promptCache).toMatchObject({ isShared: false });
    expect(engine.metadata?.description).toContain("keeps the cached prompts of keys apart");
    expect([await cachedFor(engine, "a"), await cachedFor(engine, "a"), await cachedFor(engine, "b")]).toEqual([
      0, 7, 0,
    ]);
  });

  test("it ignores the salt: then this is reported, and no answer has cached tokens", async () => {
    const engine = await start([await open(cachingPlace(false))]);
    expect(engine.metadata?.promptCache).toMatchObject({ isShared: true });
    expect(engine.metadata?.description).toContain("it ignores cache_salt");
    expect([await cachedFor(engine, "a"), await cachedFor(engine, "a"), await cachedFor(engine, "b")]).toEqual([
      0, 0, 0,
    ]);
  });

  test("it refuses the long prompt of the trial: then it is ready, and nothing is known", async () => {
    const place = await open((response, body, request) =>
      (body.length > 2000 ? refuse(400, '{"object": "error", "message": "too long"}') : cachingPlace(true))(
        response,
        body,
        request,
      ),
    );
    const engine = await start([place]);
    expect(engine.metadata?.promptCache).toMatchObject({ isShared: false });
    expect(engine.metadata?.description).toContain("reports no cached tokens");
  });
});

describe("a chat route", () => {
  test("of vLLM gets a salt for each key", async () => {
    const { engine, place } = await openChat();
    await askOne(engine, askAs("a"));
    const first = lastSalt(place);
    await askOne(engine, askAs("b"));
    expect(first).toMatch(/^.{43}$/);
    expect(lastSalt(place)).not.toBe(first);
  });

  test("other than vLLM gets none, since it may refuse unknown members, and no answer has cached tokens", async () => {
    const { engine, place } = await openChat({});
    place.answer = (response, body, request) => {
      const write = response.end.bind(response);
      response.end = ((text: string) =>
        write(
          text.replace('"completion_tokens":8', '"completion_tokens":8,"prompt_tokens_details":{"cached_tokens":5}'),
        )) as typeof response.end; // the tests call it with a text only
      chatWell(response, body, request);
    };
    expect(await cachedFor(engine, "a")).toBe(0);
    expect(sentTo(place).every(({ cache_salt }) => cache_salt === undefined)).toBe(true);
    expect(engine.metadata?.promptCache).toMatchObject({ isShared: true });
  });

  test("other than vLLM gets one if the operator says so", async () => {
    const { engine, place } = await openChat({}, { isSalted: true });
    await askOne(engine, askAs("a"));
    expect(lastSalt(place)).toMatch(/^.{43}$/);
    expect(engine.metadata?.promptCache).toMatchObject({ isShared: false });
  });

  test("of vLLM gets none if the operator does not want it", async () => {
    const { engine, place } = await openChat({ owned_by: "vllm" }, { isSalted: false });
    await askOne(engine, askAs("a"));
    expect(lastSalt(place)).toBeUndefined();
    expect(engine.metadata?.promptCache).toMatchObject({ isShared: true });
  });
});
