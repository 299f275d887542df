import { expect, test } from "vitest";
import { say, until, withKey } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

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
  expect(refusal.message).toContain(budgetUsd);
  expect(refusal.headers.get("retry-after")).toBeNull();
  expect(await server().refuse({ ...request, stream: true }, key)).toMatchObject({ status: 402 });
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

test("a budget that lacks the smallest part is not spent", async () => {
  const request = say("a b c");
  const { usage } = await server().complete(request);
  const key = withKey(await server().makeKey({ budgetUsd: `${usage.cost_usd}0000000001` }));
  expect((await server().chat(request, key)).status).toBe(200);
  expect((await server().chat(request, key)).status).toBe(200);
  expect((await server().chat(request, key)).status).toBe(402);
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
