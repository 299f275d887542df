import { afterEach, describe, expect, test } from "vitest";
import { miniFolder } from "@parley/inference/testing";
import { openPlace } from "@parley/inference/testing/places";
import type { Place } from "@parley/inference/testing/places";
import { miniId, startTestServer, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";

/** A model whose cached tokens have a price of their own, at an upstream that reports cached tokens. */

const event = (data: unknown): string => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** The number of cached tokens that the upstream reports beyond the prompt. */
let surplus = -1;

/** Answers with three tokens, and reports all prompt tokens but one as cached. */
const answerCached: Place["answer"] = (response, body) => {
  const { prompt } = JSON.parse(body) as { readonly prompt: readonly number[] }; // written by the server under test
  const usage = {
    prompt_tokens: prompt.length,
    completion_tokens: 3,
    prompt_tokens_details: { cached_tokens: prompt.length + surplus },
  };
  const ids = [...Buffer.from("abc")];
  response.end(event({ choices: [{ token_ids: ids, finish_reason: "length" }], usage }) + event("[DONE]"));
};

let server: TestServer | undefined;
afterEach(async () => {
  await server?.[Symbol.asyncDispose]();
  server = undefined;
  surplus = -1;
});

/** `cache_salt` on: the stand-in reports cached tokens for every key, and would be taken for a shared cache. */
async function start(input_cache_read?: string): Promise<TestServer> {
  let isProbed = false;
  const place = await openPlace((response, body, request) => {
    if (isProbed) return answerCached(response, body, request);
    const usage = { prompt_tokens: 9, completion_tokens: 1 };
    response.end(event({ choices: [{ token_ids: [97], finish_reason: "length" }], usage }) + event("[DONE]"));
  });
  const remote = { urls: [place.url], model: "there", tokenizer: miniFolder };
  const pricing = {
    prompt: "0.0000003",
    completion: "0.0000006",
    ...(input_cache_read !== undefined && { input_cache_read }),
  };
  server = await startTestServer({ settings: { models: { "model-1-mini": { engine: "remote", remote, pricing } } } });
  isProbed = true;
  return server;
}

const ask = { model: miniId, max_completion_tokens: 3 };
/** Returns an amount of 10^-13 dollars as a decimal. */
const usd = (units: number): string => `0.${String(units).padStart(13, "0")}`.replace(/0+$/, "");

describe("cached tokens with a price of their own", () => {
  test("RESP-26 RESP-16 cost exactly that in the answer, in a stream and in the ledger", async () => {
    const own = await start("0.0000000700001");
    const { usage } = await own.complete(ask);
    const cached = usage.prompt_tokens_details.cached_tokens;
    expect(cached).toBe(usage.prompt_tokens - 1);
    const wanted = usd(3_000_000 + cached * 700_001 + 3 * 6_000_000);
    expect(usage.cost_usd).toBe(wanted);
    const chunks = await own.stream({ ...ask, stream_options: { include_usage: true } });
    expect(JSON.stringify(chunks)).toContain(`"cost_usd":"${wanted}"`);
    const rows = await until(
      () => own.ledger(),
      (all) => all.every(({ outcome }) => outcome !== "open"),
    );
    expect(rows.map(({ cost_usd }) => cost_usd)).toEqual([wanted, wanted]);
  });

  test("RESP-14 RESP-26 are never more than the prompt's, whatever an upstream reports", async () => {
    surplus = 1000;
    const own = await start("0.00000007");
    const { usage } = await own.complete(ask);
    expect(usage.prompt_tokens_details.cached_tokens).toBe(usage.prompt_tokens);
    expect(usage.cost_usd).toBe(usd(usage.prompt_tokens * 700_000 + 3 * 6_000_000));
    const [row] = await own.ledger();
    expect(row).toMatchObject({ cached_tokens: usage.prompt_tokens, cost_usd: usage.cost_usd });
  });

  test("MODL-24 are listed with their price", async () => {
    const own = await start("0.00000007");
    expect(await (await own.fetch(`/models/${miniId}`)).json()).toMatchObject({
      pricing: { input_cache_read: "0.00000007" },
    });
  });

  test("may be free, and a budget still holds the full price of the prompt", async () => {
    const own = await start("0");
    const { usage } = await own.complete(ask);
    expect(usage.cost_usd).toBe(usd(3_000_000 + 3 * 6_000_000));
    const full = usage.prompt_tokens * 3_000_000 + 3 * 6_000_000;
    const headers = async (budgetUsd: string) => ({
      headers: { authorization: `Bearer ${await own.makeKey({ budgetUsd })}` },
    });
    expect(await own.refuse(ask, await headers(usd(full - 1_000_000)))).toMatchObject({ status: 402 });
    expect((await own.complete(ask, await headers(usd(full)))).usage.cost_usd).toBe(usage.cost_usd);
  });
});

test("cached tokens without a price cost as much as the others, and none is listed", async () => {
  const own = await start();
  const { usage } = await own.complete(ask);
  expect(usage.cost_usd).toBe(usd(usage.prompt_tokens * 3_000_000 + 3 * 6_000_000));
  expect(await (await own.fetch(`/models/${miniId}`)).text()).not.toContain("input_cache_read");
});
