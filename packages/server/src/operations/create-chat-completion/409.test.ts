import { expect, test } from "vitest";
import type { ScriptStep } from "@parley/inference";
import { play, toRefusal } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

const endless: readonly ScriptStep[] = [{ role: true }, { repeat: 1000, steps: [{ text: "a" }, { wait_ms: 5 }] }];
const slow: readonly ScriptStep[] = [{ role: true }, { text: "a" }, { wait_ms: 300 }, { finish: "stop" }];
const server = useServer({ scenarios: { endless, slow } });

test("IDEM-02 a repetition of a running request is told its id, and takes nothing", async () => {
  const init = { headers: { "idempotency-key": "one" } };
  const leave = new AbortController();
  const running = await server().chat({ ...play("endless"), stream: true }, { ...init, signal: leave.signal });
  const response = await server().chat({ ...play("endless"), stream: true }, init);
  expect(response.headers.get("retry-after")).toBe("1");
  expect(response.headers.get("x-should-retry")).toBeNull();
  const id = running.headers.get("x-request-id") ?? "";
  const refusal = await toRefusal(response);
  expect(refusal).toMatchObject({ status: 409, code: "request_in_progress", param: null });
  expect(refusal.message).toContain(id);
  const ledger = await server().ledger();
  expect(ledger.map((row) => row.id)).toEqual([id]);
  leave.abort();
});

test("IDEM-02 of 100 equal requests, plain or streamed, one runs, and all have its answer in the end", async () => {
  for (const stream of [false, true]) {
    const init = { headers: { "idempotency-key": `race ${stream}` } };
    const before = (await server().ledger()).length;
    const texts = await Promise.all(
      Array.from({ length: 100 }, async () => {
        for (;;) {
          const response = await server().chat({ ...play("slow"), stream }, init);
          const text = await response.text();
          if (response.status === 200) return text;
          expect(response.status).toBe(409);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }),
    );
    expect(new Set(texts).size).toBe(1);
    expect(await server().ledger()).toHaveLength(before + 1);
  }
}, 30_000);
