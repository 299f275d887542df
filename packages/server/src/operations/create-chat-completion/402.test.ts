import { Big } from "big.js";
import { describe, expect, test } from "vitest";
import { modelId, play, say, until, withKey } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";
import { priceOf } from "../../accounts/money/price.ts";

const server = useServer();

test("LIM-15 LIM-02 a spent budget, to the last decimal", async () => {
  const request = say("a b c");
  const { usage } = await server().complete(request);
  // Exactly two answers: the third one finds the budget reached, although no tenth of a cent is.
  const [, fraction = ""] = usage.cost_usd.split(".");
  const budgetUsd = `0.${String(2n * BigInt(fraction)).padStart(fraction.length, "0")}`;
  const key = withKey(await server().makeKey({ budgetUsd }));
  for (let turn = 0; turn < 2; turn += 1) expect((await server().chat(request, key)).status).toBe(200);
  const refusal = await server().refuse(request, key);
  expect(refusal).toMatchObject({ status: 402, code: "insufficient_quota", param: null });
  expect(refusal.message).toMatch(/^The total budget of this key, /);
  const budget = { scope: "key", limit_usd: budgetUsd, usage_usd: budgetUsd, remaining_usd: "0" };
  expect(refusal.details).toEqual({ budget });
  expect(refusal.headers.get("retry-after")).toBeNull();
  expect(await server().refuse({ ...request, stream: true }, key)).toMatchObject({ status: 402 });
});

test("ACCT-10 a raised budget that pays for no request, with the raise and its end", async () => {
  const budgetRaise = { usd: "0.000000001", untilMs: Date.parse("2099-12-31T12:00:00Z") };
  const raised = { raised_usd: "0.000000001", raised_until: "2099-12-31T12:00:00.000Z" };
  const refusal = await server().refuse(say("a"), withKey(await server().makeKey({ budgetUsd: "0", budgetRaise })));
  expect(refusal).toMatchObject({ status: 402, details: { remaining_usd: "0.000000001", budget: raised } });
  expect(refusal.message).toContain("(raised by 0.000000001 until 2099-12-31T12:00:00.000Z), is left.");
});

test("LIM-15 the spent budget of a month, with the day when it starts again", async () => {
  const { usage } = await server().complete(say("a b c"));
  const key = withKey(await server().makeKey({ budgetUsd: "1000", monthlyBudgetUsd: usage.cost_usd }));
  expect((await server().chat(say("a b c"), key)).status).toBe(200);
  const refusal = await server().refuse(say("a b c"), key);
  expect(refusal).toMatchObject({ status: 402, code: "insufficient_quota", param: null });
  expect(refusal.message).toMatch(
    new RegExp(
      `^The monthly budget of this key, ${usage.cost_usd} US dollars, is spent\\. It starts again on \\d{4}-\\d\\d-01`,
    ),
  );
});

test("LIM-15 LIM-10 a spent budget is told before a limit, and costs no request of the minute", async () => {
  const { usage } = await server().complete(say("a b c"));
  const key = withKey(await server().makeKey({ budgetUsd: usage.cost_usd, requestsPerMinute: 3, concurrency: 1 }));
  expect((await server().chat(say("a b c"), key)).status).toBe(200);
  for (let turn = 0; turn < 10; turn += 1) {
    const { status, headers } = await server().refuse(say("a b c"), key);
    expect([status, headers.get("x-ratelimit-remaining-requests")]).toEqual([402, "2"]);
  }
});

describe("money is held before a request runs", () => {
  const many = useServer({ settings: { queueLength: 2000 }, scenarios: { stall: [{ text: "a" }, { stall: true }] } });
  const request = say("a b c");

  /** The price of the request above with this number of completion tokens. */
  async function costOf(completionTokens: (usual: number) => number): Promise<string> {
    const { usage } = await many().complete(request);
    const model = many().running.models.find(({ id }) => id === modelId);
    if (!model) throw new Error("the model is not served");
    const { prompt_tokens, completion_tokens } = usage;
    return priceOf(
      { promptTokens: prompt_tokens, cachedTokens: 0, completionTokens: completionTokens(completion_tokens) },
      model.pricing,
    );
  }

  test("LIM-15 a maximum that the rest cannot pay is refused with both amounts", async () => {
    const [budgetUsd, neededUsd] = [await costOf(() => 10), await costOf(() => 11)];
    const key = withKey(await many().makeKey({ budgetUsd }));
    const refusal = await many().refuse({ ...request, max_completion_tokens: 11 }, key);
    expect(refusal).toMatchObject({
      status: 402,
      code: "insufficient_quota",
      details: { needed_usd: neededUsd, remaining_usd: budgetUsd },
    });
    expect(refusal.message).toContain(
      `may cost ${neededUsd} US dollars, and ${budgetUsd} of the total budget of this key, ${budgetUsd} US dollars, is left`,
    );
    expect((await many().chat({ ...request, max_completion_tokens: 10 }, key)).status).toBe(200);
  });

  test("LIM-15 of a total and a monthly budget, the tighter one is named", async () => {
    const [smallUsd, largeUsd] = [await costOf(() => 10), await costOf(() => 12)];
    for (const [budgetUsd, monthlyBudgetUsd] of [
      [smallUsd, largeUsd],
      [largeUsd, smallUsd],
    ] as const) {
      const key = withKey(await many().makeKey({ budgetUsd, monthlyBudgetUsd }));
      const refusal = await many().refuse({ ...request, max_completion_tokens: 11 }, key);
      const isMonthly = monthlyBudgetUsd === smallUsd;
      const name = isMonthly ? "monthly" : "total";
      expect(refusal.message).toContain(
        `${smallUsd} of the ${name} budget of this key, ${smallUsd} US dollars, is left`,
      );
      const budget = { scope: "key", limit_usd: smallUsd, usage_usd: "0", remaining_usd: smallUsd };
      expect(refusal.details).toMatchObject({ budget: { ...budget, ...(isMonthly && { period: "month" }) } });
      expect("period" in Object(refusal.details?.["budget"])).toBe(isMonthly);
    }
  });

  test("a maximum that nobody named is lowered to what the rest pays", async () => {
    const { usage } = await many().complete(request);
    const budgetUsd = await costOf((usual) => usual - 1);
    const key = withKey(await many().makeKey({ budgetUsd }));
    const answer = await many().complete(request, key);
    expect(answer.choices[0]?.finish_reason).toBe("length");
    expect(answer.usage).toMatchObject({
      completion_tokens: usage.completion_tokens - 1,
      cost_usd: budgetUsd,
    });
  });

  test("the rest of a budget does not pay for a request that costs more", async () => {
    const budgetUsd = `${await costOf((usual) => usual)}0000000001`;
    const key = withKey(await many().makeKey({ budgetUsd }));
    expect((await many().chat(request, key)).status).toBe(200);
    const refusal = await many().refuse(request, key);
    expect(refusal).toMatchObject({ status: 402, details: { needed_usd: await costOf(() => 1) } });
  });

  test("1,000 calls at once spend a budget exactly, and no more", async () => {
    const { usage } = await many().complete(request);
    const max_completion_tokens = usage.completion_tokens;
    const budget = new Big(usage.cost_usd).times(7);
    const key = withKey(await many().makeKey({ budgetUsd: budget.toFixed() }));
    const before = (await many().ledger()).length;
    const call = async (): Promise<number> => {
      const response = await many().chat({ ...request, max_completion_tokens }, key);
      await response.arrayBuffer();
      return response.status;
    };
    const statuses = await Promise.all(Array.from({ length: 1000 }, call));
    expect(statuses.filter((status) => status === 200)).toHaveLength(7);
    expect(statuses.filter((status) => status === 402)).toHaveLength(993);
    const costs = (await many().ledger()).slice(before).map(({ cost_usd }) => new Big(cost_usd));
    expect(costs.reduce((sum, cost) => sum.plus(cost)).toFixed()).toBe(budget.toFixed());
    expect(await many().gauge("parley_reserved_usd")).toBe(0);
  }, 30_000);

  test("the money that a running request reserves is released when its client disconnects", async () => {
    const max_completion_tokens = 1000;
    // It pays for one such request and for half of another one.
    const budget = new Big(await costOf(() => max_completion_tokens)).plus(
      await costOf(() => max_completion_tokens / 2),
    );
    const key = withKey(await many().makeKey({ budgetUsd: budget.toFixed() }));
    const gone = new AbortController();
    await many().chat({ ...play("stall"), stream: true, max_completion_tokens }, { ...key, signal: gone.signal });
    const refusal = await many().refuse({ ...request, max_completion_tokens }, key);
    expect(refusal).toMatchObject({ status: 402, code: "insufficient_quota" });
    expect(refusal.message).toContain("Running requests hold");
    gone.abort();
    await until(
      async () => (await many().chat({ ...request, max_completion_tokens }, key)).status,
      (status) => status === 200,
    );
  });
});

test("a budget of nothing admits nothing, and the models can be listed all the same", async () => {
  const key = withKey(await server().makeKey({ budgetUsd: "0" }));
  expect((await server().chat({}, key)).status).toBe(402);
  expect((await server().fetch("/models", key)).status).toBe(200);
});

test("OPS-13 a request that is refused so is not charged, and leaves no row", async () => {
  const before = (await server().ledger()).length;
  await server().chat({}, withKey(await server().makeKey({ budgetUsd: "0" })));
  expect(await server().ledger()).toHaveLength(before);
  await until(
    () => server().gauge("parley_requests_running"),
    (running) => running === 0,
  );
});
