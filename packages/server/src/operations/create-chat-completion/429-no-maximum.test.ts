import { describe, expect, test } from "vitest";
import { say, withKey } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

describe("LIM-19 without a maximum", () => {
  // Each choice reserves up to 1,024 tokens, more than any of the limits below.
  const server = useServer();

  const promptTokens = async (members: object): Promise<number> =>
    (await server().complete({ ...members, max_tokens: 1 })).usage.prompt_tokens;

  // It is answered with more tokens than it has.
  const talk = say("b ".repeat(200));

  test("a request of a key with a small limit is answered, and up to the limit", async () => {
    const tokensPerMinute = (await promptTokens(talk)) + 20;
    const key = withKey(await server().makeKey({ tokensPerMinute }));
    const { choices, usage } = await server().complete(talk, key);
    expect(choices[0]?.finish_reason).toBe("length");
    expect(usage.total_tokens).toBe(tokensPerMinute);
    const refusal = await server().refuse(talk, key);
    expect(refusal).toMatchObject({ status: 429, details: { limit: "tokens" } });
    expect(refusal.details).not.toHaveProperty("requested");
  });

  test("several choices share what the limit grants", async () => {
    const key = withKey(await server().makeKey({ tokensPerMinute: (await promptTokens(talk)) + 21 }));
    const { usage } = await server().complete({ ...talk, n: 2 }, key);
    expect(usage.completion_tokens).toBe(20);
  });

  test("a stream is answered, and gives back what it does not use", async () => {
    const key = withKey(await server().makeKey({ tokensPerMinute: 600 }));
    expect(await server().stream({}, key)).toMatchObject({ end: "done" });
    const { headers } = await server().fetch("/models", key);
    expect(Number(headers.get("x-ratelimit-remaining-tokens"))).toBeGreaterThan(500);
  });

  test("a maximum above the model's means none, and any other is held to the limit as before", async () => {
    const key = withKey(await server().makeKey({ tokensPerMinute: 600 }));
    expect((await server().chat({ max_tokens: 32_000 }, key)).status).toBe(200);
    const refusal = await server().refuse({ max_tokens: 16_384 }, key);
    expect(refusal).toMatchObject({ status: 429, details: { requested: expect.any(Number) } });
    expect(refusal.headers.get("x-should-retry")).toBe("false");
  });

  test("LIM-16 a prompt that leaves no token for each choice is refused, with what it needs", async () => {
    const prompt = await promptTokens({});
    const key = withKey(await server().makeKey({ tokensPerMinute: prompt + 1 }));
    const refusal = await server().refuse({ n: 2 }, key);
    expect(refusal).toMatchObject({ status: 429, details: { limit: "tokens", requested: prompt + 2 } });
    expect(refusal.headers.get("x-should-retry")).toBe("false");
    expect((await server().complete({}, key)).usage.total_tokens).toBe(prompt + 1);
  });
});
