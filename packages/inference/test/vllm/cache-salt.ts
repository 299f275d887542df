import { describe, expect, test } from "vitest";
import type { Engine } from "../../src/index.ts";
import { Connection } from "../../src/wire/connection.ts";
import { ask } from "../../testing/requests.ts";
import { forward, isWhole, startElsewhere } from "../../testing/vllm/start-vllm.ts";
import { defaultVllm } from "./use-default-vllm.ts";

/** A real vLLM caches prompts by default. Two keys must not share them, in any way of asking it. */

const prompts = isWhole ? 200 : 40;

/** A prompt of a little more than three cache blocks. On a CPU, vLLM has blocks of 128 tokens. */
const story = (title: string): string => `Story ${title}.${" Every word counts.".repeat(110)}`;

/** Returns the number of prompt tokens that the cache has for a key. */
const cachedFor = async (engine: Engine, key: string, title: string): Promise<number> =>
  (await ask(engine, { say: story(title), maxTokens: 1, seed: undefined, origin: { key } })).usage.cachedTokens;

describe("the prompts of a key", () => {
  test(`are found again by that key, and by no other: ${prompts} prompts, each sent by three`, async () => {
    const { engine } = defaultVllm().vllm;
    let [within, between] = [0, 0];
    for (let prompt = 0; prompt < prompts; prompt += 1) {
      const title = `${prompt}`;
      if ((await cachedFor(engine, "key_a", title)) > 0) between += 1;
      if ((await cachedFor(engine, "key_b", title)) > 0) between += 1;
      if ((await cachedFor(engine, "key_a", title)) > 0) within += 1;
      if ((await cachedFor(engine, `key_${prompt}`, title)) > 0) between += 1;
    }
    process.stdout.write(
      `prompts found again: ${between} of ${3 * prompts} by another key, ${within} of ${prompts} by their own\n`,
    );
    expect(between).toBe(0);
    expect(within).toBeGreaterThanOrEqual(0.95 * prompts);
  });

  test("are one key's for all choices of its request", async () => {
    const { engine } = defaultVllm().vllm;
    const members = { say: story("choices"), maxTokens: 1, n: 3, sampling: { temperature: 1 } };
    await ask(engine, { ...members, origin: { key: "key_c" } });
    expect((await ask(engine, { ...members, origin: { key: "key_c" } })).usage.cachedTokens).toBeGreaterThan(0);
    expect((await ask(engine, { ...members, origin: { key: "key_d" } })).usage.cachedTokens).toBe(0);
  });

  test("are found by nobody where it is not known whose they are", async () => {
    const { engine } = defaultVllm().vllm;
    const members = { say: story("nobody"), maxTokens: 1 };
    for (let turn = 0; turn < 3; turn += 1) expect((await ask(engine, members)).usage.cachedTokens).toBe(0);
  });

  test("without a salt are found by anybody: this vLLM does cache", async () => {
    const socketPath = defaultVllm().vllm.socketPath;
    const connection = new Connection({ baseUrl: "http://engine", socketPath, silenceMs: 0 });
    const body = JSON.stringify({ model: defaultVllm().options.name, prompt: story("plain"), max_tokens: 1 });
    const read = async (): Promise<string> => connection.read("/v1/completions", AbortSignal.timeout(60_000), body);
    await read();
    expect(await read()).toMatch(/"cached_tokens":[1-9]/);
    await connection.close();
  });
});

describe.each(["completions", "chat"] as const)("at a vLLM of others, by %s", (protocol) => {
  test("are kept apart, which the probe finds out", async () => {
    const { url, server } = await forward(defaultVllm().vllm.socketPath);
    const engine = startElsewhere([url], { protocol });
    await engine.whenReady();
    expect(engine.metadata?.promptCache).toEqual({
      isShared: false,
      description: "keeps the cached prompts of keys apart",
    });
    let [within, between] = [0, 0];
    for (let prompt = 0; prompt < 20; prompt += 1) {
      const title = `${protocol} ${prompt}`;
      if ((await cachedFor(engine, "key_a", title)) > 0) between += 1;
      if ((await cachedFor(engine, "key_b", title)) > 0) between += 1;
      if ((await cachedFor(engine, "key_a", title)) > 0) within += 1;
    }
    expect([between, within]).toEqual([0, 20]);
    await engine.close(0);
    server.close();
  });

  test("are shared where the operator sends no salt, which is said, and no cached tokens are told", async () => {
    const { url, server } = await forward(defaultVllm().vllm.socketPath);
    const engine = startElsewhere([url], { protocol, isSalted: false });
    await engine.whenReady();
    expect(engine.metadata?.promptCache).toMatchObject({ isShared: true });
    for (const key of ["key_a", "key_a", "key_b"]) expect(await cachedFor(engine, key, `${protocol} plain`)).toBe(0);
    await engine.close(0);
    server.close();
  });
});
