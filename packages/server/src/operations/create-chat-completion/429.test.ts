import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { play, say, toRefusal, until, withKey } from "@parley/server/testing";
import type { Refusal } from "@parley/server/testing";
import { RawConnection, requestText } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const scenarios = {
  stall: [{ role: true, tokens: 0 }, { stall: true }],
  long: [{ role: true }, { repeat: 300, steps: [{ text: " a" }] }, { finish: "stop" }],
  fail: [{ fail: "out of memory" }],
} as const;

/** LIM-10 LIM-11: how long to wait, in both spellings. @returns milliseconds */
function waitOf({ headers }: Refusal): number {
  const seconds = Number(headers.get("retry-after"));
  const milliseconds = Number(headers.get("retry-after-ms"));
  expect(Number.isInteger(seconds)).toBe(true);
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBe(Math.max(1, Math.ceil(milliseconds / 1000)));
  // LIM-12
  if (milliseconds > 60_000) expect(headers.get("x-should-retry")).toBe("false");
  return milliseconds;
}

describe("requests a minute", () => {
  const server = useServer();

  test("LIM-07 LIM-10 LIM-11 LIM-13 are limited, and the refusal says when the next one may come", async () => {
    const key = withKey(await server().makeKey({ requestsPerMinute: 90 }));
    const send = () => server().chat({ max_tokens: 1 }, key);
    let response = await send();
    expect(response.status).toBe(200);
    while (response.ok) response = await send();
    const refusal = await toRefusal(response);
    expect(refusal).toMatchObject({ code: "rate_limit_exceeded", param: null, details: { limit: "requests" } });
    expect(refusal.headers.get("x-should-retry")).toBeNull();
    await wait(waitOf(refusal));
    expect((await server().chat({}, key)).status).toBe(200);
  });

  test("LIM-07 hold for streams alike, and for no other operation", async () => {
    const key = withKey(await server().makeKey({ requestsPerMinute: 1 }));
    await server().stream({}, key);
    expect((await server().chat({ stream: true }, key)).status).toBe(429);
    for (let turn = 0; turn < 3; turn += 1) expect((await server().fetch("/models", key)).status).toBe(200);
  });

  test("LIM-07 are used by a request with a fault, which uses nothing else", async () => {
    const key = withKey(await server().makeKey({ requestsPerMinute: 3, tokensPerMinute: 5000, concurrency: 1 }));
    const { headers } = await server().refuse({ n: 99 }, key);
    expect(headers.get("x-ratelimit-remaining-requests")).toBe("2");
    expect(headers.get("x-ratelimit-remaining-tokens")).toBe("5000");
    expect((await server().chat({ model: "a/b" }, key)).status).toBe(404);
    expect((await server().chat({}, key)).status).toBe(200);
    expect(await server().refuse({ n: 99 }, key)).toMatchObject({ status: 429, details: { limit: "requests" } });
  });

  test("LIM-07 LIM-13 are not used by a request that is refused for its tokens", async () => {
    const key = withKey(await server().makeKey({ requestsPerMinute: 1, tokensPerMinute: 1 }));
    for (let turn = 0; turn < 3; turn += 1) {
      const refusal = await server().refuse({}, key);
      expect(refusal).toMatchObject({ status: 429, details: { limit: "tokens" } });
      expect(refusal.headers.get("x-ratelimit-remaining-requests")).toBe("1");
    }
  });
});

describe("tokens a minute", () => {
  const server = useServer({ scenarios, settings: { reservedTokens: 10 } });
  // Three of them are 700 tokens above the limit below: two seconds, even where the machine is slow.
  const third = say("x".repeat(4 * 6890));

  test("LIM-08 LIM-13 are limited, and the refusal says when there will be enough", async () => {
    const key = withKey(await server().makeKey({ tokensPerMinute: 20_000 }));
    for (let turn = 0; turn < 2; turn += 1) {
      expect((await server().chat({ ...third, max_tokens: 1 }, key)).status).toBe(200);
    }
    const refusal = await server().refuse({ ...third, max_tokens: 1 }, key);
    expect(refusal).toMatchObject({ code: "rate_limit_exceeded", details: { limit: "tokens" } });
    await wait(waitOf(refusal));
    expect((await server().chat({ ...third, max_tokens: 1 }, key)).status).toBe(200);
  });

  test("LIM-16 LIM-12 are never enough for a request that is above the limit alone", async () => {
    const key = withKey(await server().makeKey({ tokensPerMinute: 15 }));
    const refusal = await server().refuse({ max_tokens: 10 }, key);
    expect(refusal).toMatchObject({ status: 429, details: { limit: "tokens", requested: expect.any(Number) } });
    expect(refusal.message).toContain(`${String(refusal.details?.["requested"])} tokens`);
    expect(refusal.headers.get("x-should-retry")).toBe("false");
    expect((await server().chat({ max_tokens: 1 }, key)).status).toBe(200);
  });

  test("LIM-12 may be owed, and a wait of more than a minute is said to be one", async () => {
    const key = withKey(await server().makeKey({ tokensPerMinute: 100 }));
    expect((await server().chat({ ...play("long"), max_tokens: 400 }, key)).status).toBe(200);
    const refusal = await server().refuse({}, key);
    expect(waitOf(refusal)).toBeGreaterThan(60_000);
    expect(refusal.headers.get("x-ratelimit-remaining-tokens")).toBe("0");
    expect(refusal.headers.get("x-ratelimit-reset-tokens")).toMatch(/^\d+m\d+s$/);
  });

  test("LIM-17 that were reserved and not used are released", async () => {
    const key = withKey(await server().makeKey({ tokensPerMinute: 30 })); // one token comes back in two seconds
    const left = async (): Promise<number> =>
      Number((await server().fetch("/models", key)).headers.get("x-ratelimit-remaining-tokens"));
    const before = await left();
    const { usage } = await server().complete({}, key);
    expect(before - (await left())).toBe(usage.total_tokens);
    await server().chat(play("fail"), key);
    expect(before - (await left())).toBe(usage.total_tokens);
  });
});

describe("the ceiling of the server", () => {
  const server = useServer({ settings: { totalRequestsPerMinute: 5 } });

  test("LIM-07 holds over all keys, and is shown where it is lower than the limit of a key", async () => {
    const [one, other] = [
      withKey(await server().makeKey()),
      withKey(await server().makeKey({ requestsPerMinute: 100 })),
    ];
    const { headers } = await server().fetch("/models", one);
    expect(headers.get("x-ratelimit-limit-requests")).toBe("5");
    expect(headers.get("x-ratelimit-limit-tokens")).toBe("10000000");
    for (const key of [one, other, one, other, one]) expect((await server().chat({}, key)).status).toBe(200);
    const refusal = await server().refuse({}, other);
    expect(refusal).toMatchObject({ details: { limit: "requests" } });
    expect(refusal.headers.get("x-ratelimit-limit-requests")).toBe("5");
  });
});

describe("the ceiling of tokens", () => {
  const server = useServer({ settings: { totalTokensPerMinute: 200 } });

  test("LIM-19 holds for a request without a maximum, which is answered", async () => {
    expect((await server().chat({}, withKey(await server().makeKey()))).status).toBe(200);
  });

  test("LIM-08 that of tokens holds over all keys", async () => {
    const [one, other] = [withKey(await server().makeKey()), withKey(await server().makeKey())];
    expect((await server().chat({ max_tokens: 150 }, one)).status).toBe(200);
    const refusal = await server().refuse({ max_tokens: 201 }, other);
    expect(refusal).toMatchObject({ status: 429, details: { limit: "tokens" } });
    expect(refusal.headers.get("x-ratelimit-limit-tokens")).toBe("200");
  });
});

describe("the default limits of a key", () => {
  const server = useServer({ settings: { requestsPerMinute: 2, tokensPerMinute: 5000 } });

  test("LIM-06 are shown to a key without limits of its own, and leave other keys theirs", async () => {
    const [one, other] = [withKey(await server().makeKey()), withKey(await server().makeKey())];
    const { headers } = await server().fetch("/models", one);
    expect(headers.get("x-ratelimit-limit-requests")).toBe("2");
    expect(headers.get("x-ratelimit-limit-tokens")).toBe("5000");
    for (const key of [one, one, other]) expect((await server().chat({}, key)).status).toBe(200);
    expect(await server().refuse({}, one)).toMatchObject({ status: 429, details: { limit: "requests" } });
    expect((await server().chat({}, other)).status).toBe(200);
  });
});

describe("requests at a time", () => {
  const server = useServer({ scenarios, settings: { requestTimeoutMs: 2500 } });

  test("LIM-09 LIM-10 LIM-17 are limited, and each slot is released after any end of its request", async () => {
    const key = withKey(await server().makeKey({ concurrency: 1 }));
    const ends = [
      (response: Response) => response.body?.cancel(), // left
      (response: Response) => response.text(), // out of time
    ];
    for (const end of ends) {
      const running = await server().chat({ ...play("stall"), stream: true }, key);
      const refusal = await server().refuse({}, key);
      expect(refusal).toMatchObject({ status: 429, code: "rate_limit_exceeded", details: { limit: "concurrency" } });
      waitOf(refusal);
      await end(running);
      await until(
        async () => (await server().chat({}, key)).status,
        (status) => status === 200,
      );
    }
    for (const members of [{}, play("fail"), { stream: true }, { n: 99 }]) {
      await (await server().chat(members, key)).text();
      await until(
        async () => (await server().chat({}, key)).status,
        (status) => status === 200,
      );
    }
  });

  test("LIM-09 of one key are nothing to another", async () => {
    const busy = withKey(await server().makeKey({ concurrency: 1 }));
    const running = await server().chat({ ...play("stall"), stream: true }, busy);
    expect((await server().chat({}, withKey(await server().makeKey({ concurrency: 1 })))).status).toBe(200);
    await running.body?.cancel();
  });
});

describe("bytes of bodies at a time", () => {
  const size = 3_000_000;
  const server = useServer({ settings: { bodyBytesPerKey: 2 * size, bodyBytes: 3 * size } });

  /** A request whose body is announced and does not arrive. */
  async function announce(key: string): Promise<RawConnection> {
    const connection = await RawConnection.open(server().origin);
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json", Expect: "100-continue" };
    connection.send(requestText("POST /v1/chat/completions", { ...headers, "Content-Length": String(size) }));
    return connection;
  }
  const statusOf = async (connection: RawConnection): Promise<number | undefined> =>
    (await connection.read("POST", "/v1/chat/completions"))?.status;

  test("are limited for each key and for all, before a byte is read, and released when the caller disconnects", async () => {
    const [one, other, third] = [await server().makeKey(), await server().makeKey(), await server().makeKey()];
    const waiting = [await announce(one), await announce(one), await announce(other)];
    for (const connection of waiting) expect(await statusOf(connection)).toBe(100);
    using ofKey = await announce(one);
    const limited = await ofKey.read("POST", "/v1/chat/completions");
    expect(limited).toMatchObject({ status: 429 });
    expect(limited?.body).toContain('"limit":"bytes"');
    using ofAll = await announce(third);
    expect((await ofAll.read("POST", "/v1/chat/completions"))?.body).toContain("capacity_exhausted");
    expect((await server().chat({}, withKey(one))).status).toBe(429);
    for (const connection of waiting) connection[Symbol.dispose]();
    await until(
      async () => (await server().chat({}, withKey(one))).status,
      (status) => status === 200,
    );
  });
});

describe("the queue of a model", () => {
  const server = useServer({ scenarios, settings: { queueLength: 1, queueWaitMs: 2500 } });

  test("LIM-14 LIM-10 LIM-17 that is full refuses at once, and the wait in it is bounded", async () => {
    // The engine of this test has 64 slots.
    const stalls = await Promise.all(
      Array.from({ length: 8 }, () => server().chat({ ...play("stall"), n: 8, stream: true })),
    );
    const waiting = server().refuse();
    await until(
      () => server().gauge('parley_queue_waiting{model="vendor/model-1"}'),
      (count) => count === 1,
    );
    // The request in the queue came first. It is still there when the second one has been refused.
    const refusal = await Promise.race([server().refuse(), waiting.then(() => Promise.reject(new Error("too late")))]);
    expect(refusal).toMatchObject({ status: 429, code: "capacity_exhausted", param: null });
    waitOf(refusal);
    expect((await server().chat({ model: "vendor/model-1-mini" })).status).toBe(200);
    expect(await waiting).toMatchObject({ status: 429, code: "capacity_exhausted" });
    const patient = server().chat();
    await stalls[0]?.body?.cancel();
    expect((await patient).status).toBe(200);
    await Promise.all(stalls.map(async (response) => response.body?.cancel()));
  });
});

describe("LIM-01 LIM-02 LIM-04 LIM-05 the six headers", () => {
  const server = useServer();

  test("are on every answer to an accepted key, and count down", async () => {
    // A request comes back every 3 s, which is longer than the first answer takes.
    const key = withKey(await server().makeKey({ requestsPerMinute: 20, tokensPerMinute: 100_000 }));
    const answers = [
      await server().chat({}, key),
      await server().chat({ stream: true }, key),
      await server().chat({ n: 0 }, key),
      await server().chat({ model: "a/b" }, key),
      await server().fetch("/models", key),
      await server().fetch("/models/vendor/model-1", key),
      await server().fetch("/models/nothing", key),
      await server().fetch("/nothing", key),
      await server().fetch("/models", { ...key, method: "PUT" }),
      await server().fetch("/models/%", key),
      await server().chat({}, { ...key, body: "{" }),
      await server().chat({}, { headers: { ...key.headers, "content-type": "text/plain" } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 404, 200, 200, 404, 404, 405, 400, 400, 415]);
    for (const { headers } of answers) {
      for (const [kind, limit] of [
        ["requests", 20],
        ["tokens", 100_000],
      ] as const) {
        expect(headers.get(`x-ratelimit-limit-${kind}`)).toBe(String(limit));
        const remaining = Number(headers.get(`x-ratelimit-remaining-${kind}`));
        expect(Number.isInteger(remaining) && remaining >= 0 && remaining <= limit).toBe(true);
        expect(headers.get(`x-ratelimit-reset-${kind}`)).toMatch(/^(\d+m)?\d+s$/);
      }
    }
    expect(answers[0]?.headers.get("x-ratelimit-remaining-requests")).toBe("19");
    await answers[1]?.text();
  });
});
