import { describe, expect, test } from "vitest";
import type { ScriptStep } from "@parley/inference";
import { miniId, play, until } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

const counters = { promptTokens: 5, cachedTokens: 0, completionTokens: 1, reasoningTokens: 0 };
/** An event that the engine writes behind this usage. */
const raw = (event: object, usage: object = counters): ScriptStep => ({
  raw: `${JSON.stringify({ kind: "usage", usage })}\n${JSON.stringify({ choice: 0, ...event })}\n`,
});
const role: ScriptStep = { role: true };

/** The ways in which an engine may fail to give a whole answer. */
const breaks = {
  "says nothing": [],
  "fails at once": [{ fail: "CUDA out of memory at http://10.0.0.1:8000" }],
  "breaks the connection": [{ reset: true }],
  "sends bytes that are not JSON": [{ raw: "<html>\n" }],
  "sends JSON that is not an event": [{ raw: '{"error": "no"}\n' }, { raw: "null\n" }, { raw: "5\n" }],
  "says an unknown kind of event": [raw({ kind: "banana" })],
  "has lost count": [raw({ kind: "role" }, {})],
  "counts below nothing": [raw({ kind: "role" }, { ...counters, promptTokens: -1 })],
  "counts in fractions": [raw({ kind: "role" }, { ...counters, completionTokens: 0.5 })],
  "writes a choice that was not asked for": [{ choice: 1, role: true }],
  "writes no choice": [raw({ kind: "role", choice: -1 })],
  "ends without a finish": [role, { text: "a" }],
  "finishes for no legal reason": [role, raw({ kind: "finish", reason: "abort" })],
  "finishes with no reason": [role, raw({ kind: "finish" })],
  "says the role twice": [role, role, { finish: "stop" }],
  "goes on after the finish": [role, { finish: "stop" }, { text: "a" }],
  "finishes twice": [role, { finish: "stop" }, { finish: "stop" }],
  "stops although it called": [role, { tool: { index: 0, name: "f", arguments: "{}" } }, { finish: "stop" }],
  "says that it called, and did not": [role, { finish: "tool_calls" }],
  "adds to a call that is not there": [role, { tool: { index: 0, arguments: "{}" } }, { finish: "tool_calls" }],
  "leaves a call out": [role, { tool: { index: 1, name: "f", arguments: "{}" } }, { finish: "tool_calls" }],
  "counts calls below nothing": [role, { tool: { index: -1, arguments: "{}" } }, { finish: "tool_calls" }],
  "names a call twice": [
    role,
    { tool: { index: 0, name: "f", arguments: "{}" } },
    { tool: { index: 0, name: "f", arguments: "{}" } },
    { finish: "tool_calls" },
  ],
} satisfies Record<string, readonly ScriptStep[]>;

const server = useServer({
  scenarios: {
    ...breaks,
    die: [{ die: true }],
    late: [role, { text: "a" }, { die: true }],
    endless: [role, { repeat: 100_000, steps: [{ text: "a" }, { wait_ms: 5 }] }],
    "die later": [role, { text: "a" }, { wait_ms: 1000 }, { die: true }],
  },
});
const upstream = { status: 502, code: "upstream_error", type: "server_error", param: null };

describe("OPS-02 ERR-08 an engine that", () => {
  test.each(Object.keys(breaks))("%s is reported as its own kind of failure", async (name) => {
    const refusal = await server().refuse(play(name));
    expect(refusal).toMatchObject(upstream);
    expect(refusal.message).not.toMatch(/CUDA|10\.0\.0\.1|engine (ended|said|wrote)/);
  });

  test.each(Object.entries(breaks).filter(([, [first]]) => first !== role))(
    "STRM-26 STRM-25 %s before the first event of a stream is told so, too",
    async (name) => {
      expect(await server().refuse({ ...play(name), stream: true })).toMatchObject(upstream);
    },
  );
});

test("OPS-11 a failure that produced nothing costs nothing", async () => {
  const count = (await server().ledger()).length;
  await server().chat(play("fails at once"));
  const row = await until(
    async () => (await server().ledger())[count],
    (one) => one?.ended_ms != null,
  );
  expect(row).toMatchObject({ outcome: "failed", error_code: "upstream_error", cost_usd: "0", completion_tokens: 0 });
});

test("OPS-02 OPS-07 OPS-08 an engine that dies affects no other model, and is back soon", async () => {
  const other = server().stream({ model: miniId });
  expect(await server().refuse(play("die"))).toMatchObject(upstream);
  expect((await other).end).toBe("done");
  await until(
    async () => (await server().chat()).status,
    (status) => status === 200,
  );
  expect(await server().refuse(play("late"))).toMatchObject(upstream);
});

test("OPS-17 if an engine dies, its answers cost nothing, streamed or not", async () => {
  await until(
    async () => (await server().chat()).status,
    (status) => status === 200,
  );
  const known = new Set((await server().ledger()).map(({ id }) => id));
  const victims = [true, true, false].map((stream) => server().chat({ ...play("endless"), stream }));
  const bodies = await Promise.all([server().chat({ ...play("die later"), stream: true }), ...victims]);
  await Promise.all(bodies.map((body) => body.text()));
  const rows = await until(
    async () => (await server().ledger()).filter(({ id }) => !known.has(id)),
    (ended) => ended.length === 4 && ended.every(({ ended_ms: endedMs }) => endedMs != null),
  );
  for (const row of rows) {
    expect(row).toMatchObject({ outcome: "failed", error_code: "upstream_error", cost_usd: "0" });
    expect(row.completion_tokens).toBeGreaterThan(0);
  }
});
