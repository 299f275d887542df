import { expect, test } from "vitest";
import type { components } from "@parley/contract/types";
import type { ScriptStep } from "@parley/inference";
import { miniId, modelId, play, withKey } from "@parley/server/testing";
import { openStateOf } from "../../state/open-state.ts";
import { storesOf } from "../../../testing/shared-stores.ts";
import { useServer } from "../../../test/use-server.ts";

type KeyState = components["schemas"]["KeyState"];

const short: readonly ScriptStep[] = [{ role: true }, { text: "Hello" }, { finish: "stop" }];
const server = useServer({ scenarios: { short } });

interface Seen {
  readonly state: KeyState;
  readonly headers: Headers;
}

async function ask(key: Parameters<ReturnType<typeof server>["fetch"]>[1] = {}): Promise<Seen> {
  const response = await server().fetch("/key", key);
  expect(response.status).toBe(200);
  // The test server checks it against the contract.
  return { state: (await response.json()) as KeyState, headers: response.headers };
}

test("ACCT-06 the key of the environment has the default limits, every model and no budget", async () => {
  const { state, headers } = await ask();
  expect(state).toMatchObject({ object: "key", label: "environment", models: [modelId, miniId], budgets: [] });
  expect(state).not.toHaveProperty("expires_at");
  expect(state.limits).not.toHaveProperty("concurrency");
  for (const kind of ["requests", "tokens"] as const)
    expect(state.limits[kind].limit).toBe(Number(headers.get(`x-ratelimit-limit-${kind}`)));
});

test("ACCT-06 AUTH-10 a key sees its own rules, and no part of itself", async () => {
  const expiresMs = Date.parse("2099-12-31T00:00:00Z");
  const rules = { models: [miniId], requestsPerMinute: 60, tokensPerMinute: 5000, concurrency: 3, expiresMs };
  const token = await server().makeKey(rules);
  const { state } = await ask(withKey(token));
  expect(state).toMatchObject({
    models: [miniId],
    expires_at: "2099-12-31T00:00:00.000Z",
    limits: { requests: { limit: 60, remaining: 60 }, tokens: { limit: 5000, remaining: 5000 }, concurrency: 3 },
  });
  expect(Date.parse(state.created_at ?? "")).toBeGreaterThan(Date.now() - 60_000);
  // The id of a key is a part of its token.
  for (const part of token.replace("parley_", "").split(".")) expect(JSON.stringify(state)).not.toContain(part);
});

test("the time of a reset is when the limit is full again", async () => {
  const key = withKey(await server().makeKey({ requestsPerMinute: 60 }));
  await server().complete(play("short"), key);
  const { state } = await ask(key);
  expect(state.limits.requests.remaining).toBeLessThanOrEqual(60);
  const waitMs = Date.parse(state.limits.requests.resets_at) - Date.now();
  expect(waitMs).toBeLessThanOrEqual(1000);
  expect(Date.parse(state.limits.tokens.resets_at)).toBeGreaterThan(Date.now() - 1000);
});

test("ACCT-07 asking counts towards no limit, and a key without requests left may ask", async () => {
  const key = withKey(await server().makeKey({ requestsPerMinute: 1 }));
  await server().complete(play("short"), key);
  for (let turn = 0; turn < 3; turn += 1) {
    const { headers, state } = await ask(key);
    expect(headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect(state.limits.requests.remaining).toBe(0);
  }
});

test("ACCT-08 ACCT-09 an unspent budget is whole, and says when it starts again", async () => {
  const { state } = await ask(withKey(await server().makeKey({ budgetUsd: "5.5", monthlyBudgetUsd: "0.000001" })));
  const month = { period: "month", time_zone: "UTC", resets_at: startOfNextMonth() };
  expect(state.budgets).toEqual([
    { scope: "key", limit_usd: "5.5", usage_usd: "0", remaining_usd: "5.5" },
    { scope: "key", limit_usd: "0.000001", usage_usd: "0", remaining_usd: "0.000001", ...month },
  ]);
});

test("ACCT-10 a raised budget says how much of it is the raise, and until when", async () => {
  const untilMs = Date.parse("2099-12-31T12:00:00Z");
  const budgetRaise = { usd: "0.25", untilMs };
  const seenWith = async (raise: typeof budgetRaise) => {
    const rules = { budgetUsd: "5", monthlyBudgetUsd: "1.5", budgetRaise: raise };
    return (await ask(withKey(await server().makeKey(rules)))).state.budgets;
  };
  const raised = { raised_usd: "0.25", raised_until: "2099-12-31T12:00:00.000Z" };
  expect(await seenWith(budgetRaise)).toMatchObject([
    { limit_usd: "5.25", remaining_usd: "5.25", ...raised },
    { limit_usd: "1.75", remaining_usd: "1.75", ...raised },
  ]);
  const ended = await seenWith({ ...budgetRaise, untilMs: Date.now() });
  expect(ended).toMatchObject([{ limit_usd: "5" }, { limit_usd: "1.5" }]);
  expect(ended[0]).not.toHaveProperty("raised_until");
});

test("ACCT-08 a key whose budget is spent sees it, although its requests get 402", async () => {
  const { usage } = await server().complete(play("short"));
  const { cost_usd: cost, completion_tokens: tokens } = usage;
  const rules = { budgetUsd: cost, monthlyBudgetUsd: "1" };
  const key = withKey(await server().makeKey(rules));
  await server().complete({ ...play("short"), max_completion_tokens: tokens }, key);
  expect((await server().refuse(play("short"), key)).status).toBe(402);
  const { state } = await ask(key);
  expect(state.budgets[0]).toEqual({ scope: "key", limit_usd: cost, usage_usd: cost, remaining_usd: "0" });
  expect(state.budgets[1]).toMatchObject({ usage_usd: cost, remaining_usd: String(1 - Number(cost)), period: "month" });
});

test("ACCT-08 ACCT-09 the budgets of its group and of that group's parent have their names and zones", async () => {
  const { dataDir } = server();
  await using state = await openStateOf({ dataDir, databaseUrl: storesOf(dataDir)?.databaseUrl });
  const times = { createdMs: 0, timeZone: "Asia/Kathmandu" } as const;
  const parent = { id: "grp_0000000000aa", name: "company", budgetUsd: "100", createdMs: 0 };
  await state.groups.insert(parent);
  const group = {
    id: "grp_0000000000bb",
    name: "search",
    parentId: parent.id,
    budgetUsd: "7",
    period: "day",
    ...times,
  } as const;
  await state.groups.insert(group);
  const key = withKey(await server().makeKey({ groupId: group.id }));
  const { usage } = await server().complete(play("short"), key);
  const { state: seen } = await ask(key);
  const [own, above] = seen.budgets;
  expect(seen.budgets).toHaveLength(2);
  expect(own).toMatchObject({
    scope: "group",
    name: "search",
    limit_usd: "7",
    period: "day",
    time_zone: "Asia/Kathmandu",
  });
  // Midnight in Kathmandu is at 18:15 in UTC.
  expect(own?.resets_at).toMatch(/T18:15:00\.000Z$/);
  expect(above).toMatchObject({ scope: "parent_group", name: "company", limit_usd: "100", usage_usd: usage.cost_usd });
  expect(above).not.toHaveProperty("resets_at");
  expect(own?.usage_usd).toBe(usage.cost_usd);
});

function startOfNextMonth(): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
}
