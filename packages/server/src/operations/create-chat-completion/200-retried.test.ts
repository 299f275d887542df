import { expect, test } from "vitest";
import type { ScriptStep } from "@parley/inference";
import { areStoresShared, play, say, until, withKey } from "@parley/server/testing";
import type { KeyRules, TestInit } from "@parley/server/testing";
import { breakLedger, breakSpending } from "../../../test/break-state.ts";
import { useServer } from "../../../test/use-server.ts";

/** Requests with an idempotency key that end with an error: the key can be sent again, with any body. */

const short: readonly ScriptStep[] = [{ role: true }, { text: "Hello" }, { finish: "stop" }];
const server = useServer({
  scenarios: { short, broken: [{ fail: "out of memory" }], late: [{ stall: true }] },
  settings: { requestTimeoutMs: 4000 },
});
const small = { ...play("short"), max_completion_tokens: 8 };
const asked = (token: string, name: string): TestInit => ({
  headers: { ...withKey(token).headers, "idempotency-key": name },
});

/** Expects that the same idempotency key gives a new answer, which is kept. */
async function expectFree(init: TestInit): Promise<void> {
  const first = await until(
    () => server().chat(small, init),
    ({ status }) => status !== 503,
    10_000,
  );
  const text = await first.text();
  expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([200, null]);
  const again = await server().chat(small, init);
  expect([again.headers.get("idempotent-replayed"), await again.text()]).toEqual(["true", text]);
}

test.each<[string, number, string, Readonly<Record<string, unknown>>]>([
  ["a faulty body", 400, "invalid_value", { ...small, temperature: 7 }],
  ["a prompt that is too long", 400, "context_length_exceeded", say("x ".repeat(200_000))],
  ["an unknown model", 404, "model_not_found", { ...small, model: "vendor/none" }],
  ["a failing engine", 502, "upstream_error", play("broken")],
  ["an engine that is too slow", 504, "timeout", play("late")],
])("IDEM-05 after %s (%i %s) the key is free", async (title, status, code, body) => {
  const init = asked(await server().makeKey(), title);
  expect(await server().refuse(body, init)).toMatchObject({ status, code });
  await expectFree(init);
});

/** Changes the newest key, and waits until the server knows it. */
async function changeKey({ headers }: TestInit, change: Partial<KeyRules>): Promise<void> {
  const { keys } = server().running;
  await keys.update((await keys.list()).at(-1)?.id ?? "", change);
  await until(
    () => server().chat(small, { headers: { authorization: headers?.["authorization"] ?? "" } }),
    ({ status }) => status === 200,
  );
}

test("IDEM-05 after 402 the key is free when the budget is raised", async () => {
  const init = asked(await server().makeKey({ budgetUsd: "0.0000001" }), "spent");
  expect((await server().refuse(small, init)).status).toBe(402);
  await changeKey(init, { budgetUsd: "10" });
  await expectFree(init);
});

test("IDEM-05 after 429 the key is free when the limit allows it", async () => {
  const init = asked(await server().makeKey({ tokensPerMinute: 10 }), "limited");
  expect((await server().refuse({ ...small, max_completion_tokens: 500 }, init)).status).toBe(429);
  await changeKey(init, { tokensPerMinute: 10_000 });
  await expectFree(init);
});

// They hide tables of SQLite.
test.skipIf(areStoresShared)("IDEM-05 after 500 and 503 the key is free", async () => {
  for (const [status, breakState, rules] of [
    [500, breakSpending, { budgetUsd: "10" }],
    [503, breakLedger, {}],
  ] as const) {
    const init = asked(await server().makeKey(rules), `broken ${status}`);
    const mend = breakState(server());
    const refusal = await server().refuse(small, init);
    mend();
    expect(refusal.status).toBe(status);
    await expectFree(init);
  }
});
