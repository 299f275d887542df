import { describe, expect, test } from "vitest";
import type { ScriptStep } from "@parley/inference";
import { play, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { canShare, useReplicas } from "../use-replicas.ts";

const needs = canShare ? "" : " (this needs PostgreSQL and Valkey or Redis)";
const slow: readonly ScriptStep[] = [
  { role: true },
  { text: "a" },
  { wait_ms: 400 },
  { text: "b" },
  { finish: "stop" },
];

/** Sends a request until it is not told that another one runs. Returns the answer, and its headers. */
async function insist(server: TestServer, stream: boolean, key: string): Promise<{ text: string; headers: Headers }> {
  const init = { headers: { "idempotency-key": key } };
  const response = await until(
    async () => {
      const answer = await server.chat({ ...play("slow"), stream }, init);
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    },
    ({ status }) => status !== 409,
    20_000,
  );
  expect(response.status).toBe(200);
  return response;
}

describe.skipIf(!canShare)(`equal requests on three servers with one PostgreSQL${needs}`, () => {
  const replicas = useReplicas(3, { scenarios: { slow } });

  test.each([false, true])(
    "IDEM-02 of 90 that race, with stream %s, one runs, and all get its answer",
    async (stream) => {
      const { servers } = replicas();
      const key = `race ${stream}`;
      const answers = await Promise.all(
        Array.from({ length: 90 }, async (_, turn) => insist(servers[turn % 3] ?? servers[0], stream, key)),
      );
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      const originals = answers.filter(({ headers }) => headers.get("idempotent-replayed") === null);
      expect(originals).toHaveLength(1);
      const id = originals[0]?.headers.get("x-request-id");
      for (const { headers } of answers)
        expect(headers.get("x-original-request-id") ?? headers.get("x-request-id")).toBe(id);
    },
    60_000,
  );

  test("while PostgreSQL is away, a request with a key is refused, and runs once when it is back", async () => {
    const { servers, postgres } = replicas();
    const [first, second, third] = servers;
    const init = { headers: { "idempotency-key": "away" } };
    await postgres.kill();
    const refused = await first.refuse(play("slow"), init);
    expect(refused).toMatchObject({ status: 503, code: "service_unavailable" });
    await postgres.start();
    const answer = await until(
      () => (second ?? first).chat(play("slow"), init),
      ({ status }) => ![409, 503].includes(status),
      20_000,
    );
    expect([answer.status, answer.headers.get("idempotent-replayed")]).toEqual([200, null]);
    await answer.text();
    const again = await (third ?? first).chat(play("slow"), init);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  }, 60_000);
});
