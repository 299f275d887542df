import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { ScriptStep } from "@parley/inference";
import { areStoresShared, play, say, startTestServer, until, withKey } from "@parley/server/testing";
import type { TestInit } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

const role: ScriptStep = { role: true };
const endless: readonly ScriptStep[] = [role, { repeat: 100_000, steps: [{ text: "a" }, { wait_ms: 5 }] }];
const server = useServer({
  scenarios: {
    short: [role, { text: "Hello \u2028" }, { text: " you" }, { finish: "stop" }],
    endless,
    broken: [role, { text: "a" }, { fail: "out of memory" }],
    "breaks at once": [{ fail: "out of memory" }],
    slow: [role, { text: "a" }, { wait_ms: 700 }, { text: "b" }, { finish: "stop" }],
    large: [role, { text: "a".repeat(3000) }, { finish: "stop" }],
  },
  settings: { idempotencyAnswerBytes: 2048, idempotencyAnswers: 3 },
});

let count = 0;
/** Returns headers with a new idempotency key. */
const once = (token?: string): TestInit => ({
  headers: { "idempotency-key": `call ${(count += 1)}`, ...(token !== undefined && withKey(token).headers) },
});
const usageOf = async (response: Response): Promise<number> =>
  (await server().fetch(`/usage/${response.headers.get("x-request-id")}`)).status;

describe.each([false, true])("with stream: %s", (stream) => {
  const asked = { ...play("short"), stream, store: true };

  test("IDEM-01 the answer comes again, byte by byte, and says so", async () => {
    const init = once();
    const first = await server().chat(asked, init);
    const text = await first.text();
    const again = await server().chat(asked, init);
    expect(await again.text()).toBe(text);
    expect(text).toContain(stream ? "data: [DONE]" : '"finish_reason":"stop"');
    for (const name of ["content-type", "x-ignored-params", ...(stream ? ["cache-control"] : ["content-length"])])
      expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.headers.get("x-original-request-id")).toBe(first.headers.get("x-request-id"));
    expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  });

  test("IDEM-04 a repetition is not charged and takes no tokens, only one request of the minute", async () => {
    const token = await server().makeKey({ tokensPerMinute: 10_000 });
    const init = once(token);
    const body = { ...asked, max_completion_tokens: 8 };
    await (await server().chat(body, init)).text();
    const before = (await server().ledger()).length;
    const again = await server().chat(body, init);
    await again.text();
    expect(await server().ledger()).toHaveLength(before);
    expect(await usageOf(again)).toBe(404);
    expect(Number(again.headers.get("x-ratelimit-remaining-tokens"))).toBeGreaterThan(9900);
    expect(again.headers.get("x-ratelimit-remaining-requests")).not.toBeNull();
  });

  test("IDEM-05 an answer that fails is not kept, and another body may have its key", async () => {
    const init = once();
    for (const name of stream ? ["broken", "breaks at once"] : ["breaks at once", "broken"])
      await (await server().chat({ ...play(name), stream }, init)).text();
    const refused = await server().refuse({ ...asked, model: "vendor/none" }, init);
    expect(refused.status).toBe(404);
    const answered = await server().chat(asked, init);
    expect([answered.status, answered.headers.get("idempotent-replayed")]).toEqual([200, null]);
  });

  // In the other order, a server that is killed in between would have charged an answer that nobody can repeat.
  test.skipIf(areStoresShared)("an answer is kept before it is charged", async () => {
    using database = new DatabaseSync(join(server().dataDir, "parley.db"), { timeout: 5000 });
    database.exec(`CREATE TRIGGER kept_first BEFORE UPDATE OF outcome ON requests WHEN NOT EXISTS
      (SELECT 1 FROM idempotency WHERE request_id = NEW.id AND body IS NOT NULL)
      BEGIN SELECT RAISE(ABORT, 'charged before it was kept'); END`);
    try {
      const answer = await server().chat(asked, once());
      await answer.text();
      const id = answer.headers.get("x-request-id");
      const [row] = await until(
        async () => (await server().ledger()).filter((one) => one.id === id),
        ([one]) => one?.outcome !== "open",
      );
      expect(row?.outcome).toBe("complete");
      expect(server().logLines.some((line) => line.includes("charged before it was kept"))).toBe(false);
    } finally {
      database.exec("DROP TRIGGER kept_first");
    }
  });

  test("an answer above the bound is not kept, so a repetition runs", async () => {
    const init = once();
    const count = (): Promise<number> => server().gauge('parley_answers_unkept_total{reason="size"}');
    const before = await count();
    for (let turn = 0; turn < 2; turn += 1) {
      const response = await server().chat({ ...play("large"), stream }, init);
      expect([response.status, response.headers.get("idempotent-replayed")]).toEqual([200, null]);
      expect((await response.text()).length).toBeGreaterThan(3000);
    }
    await until(count, (unkept) => unkept === before + 2);
  });
});

/** Sends a request and leaves it while it generates. @returns its id */
async function leave(body: Readonly<Record<string, unknown>>, init: TestInit, of = server()): Promise<string> {
  const leaving = new AbortController();
  const known = new Set((await of.ledger()).map(({ id }) => id));
  const left = of.chat(body, { ...init, signal: leaving.signal });
  const rows = await until(
    () => of.ledger(),
    (all) => all.some((row) => !known.has(row.id) && row.completion_tokens > 0),
  );
  leaving.abort();
  await left.then((response) => response.text()).catch(() => undefined);
  return rows.find(({ id }) => !known.has(id))?.id ?? "";
}
const rowOf = async (id: string) => (await server().ledger()).find((row) => row.id === id);

test("IDEM-05 STRM-32 a stream that its client has left is stopped, and a repetition runs", async () => {
  const init = once();
  await leave({ ...play("endless"), stream: true }, init);
  // The server may not have seen yet that the client is gone.
  const next = await until(
    () => server().chat(play("short"), init),
    ({ status }) => status !== 422,
  );
  expect([next.status, next.headers.get("idempotent-replayed")]).toEqual([200, null]);
});

test("IDEM-08 a plain answer that its client has left goes on, and a repetition gets it for nothing", async () => {
  const init = once(await server().makeKey());
  const id = await leave(play("slow"), init);
  const again = await until(
    () => server().chat(play("slow"), init),
    ({ status }) => status !== 409,
  );
  expect([again.headers.get("idempotent-replayed"), again.headers.get("x-original-request-id")]).toEqual(["true", id]);
  expect(await again.json()).toMatchObject({ choices: [{ message: { content: "ab" }, finish_reason: "stop" }] });
  const row = await until(
    () => rowOf(id),
    (one) => one?.outcome !== "open",
  );
  expect(row).toMatchObject({ outcome: "complete", completion_tokens: 2 });
});

test("a plain answer that its client has left ends when its key is disabled", async () => {
  const token = await server().makeKey();
  const id = await leave(play("endless"), once(token));
  expect((await rowOf(id))?.outcome).toBe("open");
  await server().running.keys.disable((await rowOf(id))?.key_id ?? "", Date.now());
  const row = await until(
    () => rowOf(id),
    (one) => one?.outcome !== "open",
  );
  expect(row).toMatchObject({ outcome: "failed", error_code: "invalid_api_key" });
});

test("a plain answer that its client has left ends when the server stops, and costs nothing", async () => {
  await using stopped = await startTestServer({ scenarios: { endless } });
  const id = await leave(play("endless"), once(), stopped);
  await stopped.running.close();
  const rows = await stopped.ledger();
  expect(rows).toMatchObject([{ id, outcome: "failed", error_code: "service_unavailable", cost_usd: "0" }]);
});

test("IDEM-06 equal keys of two API keys have nothing to do with each other", async () => {
  const name = once().headers ?? {};
  for (const token of [await server().makeKey(), await server().makeKey()]) {
    const response = await server().chat(play("short"), { headers: { ...name, ...withKey(token).headers } });
    expect(response.headers.get("idempotent-replayed")).toBeNull();
  }
});

test.each([false, true])(
  "IDEM-04 a kept answer comes again when it has spent the budget, with stream: %s",
  async (stream) => {
    const token = await server().makeKey({ budgetUsd: "0.0000042" });
    // 8 tokens of the prompt at 0.0000003 and 3 of the answer at 0.0000006 are the whole budget.
    const asked = { ...say("hi"), stream };
    const init = once(token);
    const first = await server().chat(asked, init);
    const text = await first.text();
    await until(
      () => server().refuse(asked, { headers: withKey(token).headers }),
      ({ message }) => message.includes("is spent"),
    );
    const again = await server().chat(asked, init);
    expect([again.headers.get("idempotent-replayed"), await again.text()]).toEqual(["true", text]);
    const unpaid = await server().refuse(asked, once(token));
    expect([unpaid.status, unpaid.code]).toEqual([402, "insufficient_quota"]);
  },
);

test("the oldest answers of a key are removed above the maximum", async () => {
  const token = await server().makeKey();
  const inits = Array.from({ length: 4 }, () => once(token));
  for (const init of inits) await (await server().chat(play("short"), init)).text();
  const replayed: (string | null)[] = [];
  for (const init of inits.toReversed())
    replayed.push((await server().chat(play("short"), init)).headers.get("idempotent-replayed"));
  expect(replayed).toEqual(["true", "true", "true", null]);
});
