import { describe, expect, test } from "vitest";
import { play, until } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

const server = useServer({
  settings: { requestTimeoutMs: 800 },
  scenarios: { stall: [{ stall: true }], late: [{ role: true }, { text: "a" }, { stall: true }] },
});

test.each(["stall", "late"])("OPS-03 STRM-30 an answer that does not come whole in time: %s", async (name) => {
  const refusal = await server().refuse(play(name));
  expect(refusal).toMatchObject({ status: 504, code: "timeout", type: "server_error", param: null });
});

const lastClosed = (on: typeof server): ReturnType<typeof readLast> =>
  until(
    () => readLast(on),
    (row) => row?.ended_ms != null,
  );
const readLast = async (on: typeof server) => (await on().ledger()).at(-1);

test("OPS-17 a stream that takes too long is not a fault of the service: its tokens are charged", async () => {
  await server().stream(play("late"));
  const row = await lastClosed(server);
  expect(row).toMatchObject({ outcome: "failed", error_code: "timeout", completion_tokens: 1 });
  expect(Number(row?.cost_usd)).toBeGreaterThan(0);
});

test("OPS-03 STRM-26 a stream of which nothing comes in time", async () => {
  expect(await server().refuse({ ...play("stall"), stream: true })).toMatchObject({ status: 504, code: "timeout" });
});

test("OPS-03 LIM-17 the engine stops generating, and the slot is released", async () => {
  await server().chat(play("stall"));
  await until(
    () => server().gauge('parley_slots_in_use{model="vendor/model-1"}'),
    (taken) => taken === 0,
  );
  expect(await lastClosed(server)).toMatchObject({ outcome: "failed", error_code: "timeout", cost_usd: "0" });
});

describe("OPS-03 an engine that makes no progress is ended, and its requests time out", () => {
  const frozen = useServer({
    settings: { engineStallMs: 1500, engineSilenceMs: 1500 },
    scenarios: { freeze: [{ freeze: true }], late: [{ role: true }, { text: "a" }, { spin: true }] },
  });
  const isBack = (): Promise<number> =>
    until(
      async () => (await frozen().chat()).status,
      (status) => status === 200,
    );

  test("before its first event", async () => {
    await isBack();
    expect(await frozen().refuse(play("freeze"))).toMatchObject({ status: 504, code: "timeout", param: null });
  });

  test("OPS-17 in the middle of a stream, which costs nothing", async () => {
    await isBack();
    const { end, error } = await frozen().stream(play("late"));
    expect([end, error?.code]).toEqual(["failed", "timeout"]);
    const row = await lastClosed(frozen);
    expect(row).toMatchObject({ error_code: "timeout", completion_tokens: 1, cost_usd: "0" });
  });
});
