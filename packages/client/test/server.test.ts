import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modelId, startCuttingFront, startTestServer, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { APIError, IncompleteStreamError, collect } from "../src/index.ts";
import type { Parley, ParleyOptions, StreamRequest } from "../src/index.ts";
import { connect as connectTo, errorOf, hello, textOf } from "./ask.ts";
import { playing, readAborted, scenarios } from "./scenarios.ts";

/** The client against the real server with the scripted engine. */

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ settings: { requestTimeoutMs: 3000, drainMs: 50 }, scenarios });
});
afterAll(() => server[Symbol.asyncDispose]());

const connect = (options: Partial<ParleyOptions> = {}, to = server): Parley =>
  connectTo(to.baseUrl, { maxRetries: 0, ...options });

describe("answers", () => {
  test("create() and a collected stream give the same answer", async () => {
    const requests: StreamRequest[] = [
      hello,
      { ...hello, n: 3 },
      { ...hello, logprobs: true, top_logprobs: 2 },
      { ...hello, response_format: { type: "json_object" } },
      {
        ...hello,
        tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
        tool_choice: "required",
      },
      { ...hello, max_completion_tokens: 2 },
      playing("split"),
    ];
    const ids = /"(id|created)":("[^"]+"|\d+)/g;
    for (const request of requests) {
      const plain = await connect().create(request);
      const streamed = await collect(connect().stream({ ...request, stream_options: { include_usage: true } }));
      expect(JSON.stringify(streamed).replaceAll(ids, "")).toBe(JSON.stringify(plain).replaceAll(ids, ""));
      expect(plain.choices).toHaveLength(request.n ?? 1);
    }
  });

  test("models() and model() agree", async () => {
    const models = await connect().models();
    expect(models.map(({ id }) => id)).toContain(modelId);
    expect(await connect().model(modelId)).toEqual(models.find(({ id }) => id === modelId));
  });

  test("onResponse gets the request id and the ignored parameters", async () => {
    let heard: Headers | undefined;
    await connect({ onResponse: ({ headers }) => (heard = headers) }).create({ ...hello, store: true });
    expect(heard?.get("x-request-id")).toMatch(/^req_/);
    expect(heard?.get("x-ignored-params")).toBe("store");
  });
});

describe("a retry with an Idempotency-Key", () => {
  /** A server without the short time limit of the other tests. */
  let patient: TestServer;
  beforeAll(async () => {
    patient = await startTestServer({ scenarios });
  });
  afterAll(() => patient[Symbol.asyncDispose]());

  test.each(["asked", "answered"] as const)(
    "sends it again, and pays once, when the connection is cut after the request was %s",
    async (at) => {
      for (const mode of ["create", "stream"] as const) {
        const before = (await patient.ledger()).length;
        await using front = await startCuttingFront(patient.origin, at);
        const headers = { "Idempotency-Key": `${mode} ${at}` };
        const parley = connectTo(front.baseUrl, { maxRetries: 3 });
        const text =
          mode === "create"
            ? (await parley.create(hello, { headers })).choices[0]?.message.content
            : textOf(await Array.fromAsync(parley.stream(hello, { headers })));
        expect(text).toBe("You said: Hello");
        expect(front.keys.length).toBeGreaterThan(1);
        expect(new Set(front.keys)).toEqual(new Set([headers["Idempotency-Key"]]));
        const rows = await until(
          async () => (await patient.ledger()).slice(before),
          (all) => all.every(({ outcome }) => outcome !== "open"),
        );
        expect(rows.map(({ outcome }) => outcome)).toEqual(["complete"]);
      }
    },
    15_000,
  );

  test("waits for the first request if that still runs", async () => {
    await using front = await startCuttingFront(patient.origin, "asked");
    const headers = { "Idempotency-Key": "slow" };
    let replayed: string | null = null;
    const onResponse = ({ headers: got }: { readonly headers: Headers }): void => {
      replayed = got.get("idempotent-replayed");
    };
    await connectTo(front.baseUrl, { maxRetries: 5 }).create(playing("slow"), { headers, onResponse });
    expect(replayed).toBe("true");
  }, 15_000);
});

describe("a stream that fails", () => {
  test("before its first byte is an HTTP error", async () => {
    expect(await errorOf(connect().stream(playing("fail")).next())).toMatchObject({
      code: "upstream_error",
      status: 502,
    });
  });

  test("after its first byte throws an error with the chunks so far", async () => {
    const error = await errorOf(Array.fromAsync(connect().stream(playing("fail-late"))));
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: "upstream_error", status: 200, retry: { isAutomatic: false } });
    expect(textOf((error as APIError).chunks)).toBe("one two"); // the line before shows that it is an APIError
  });

  test("at the deadline of the service is the error `timeout` of the service", async () => {
    const error = await errorOf(Array.fromAsync(connect().stream(playing("stall-late"))));
    expect(error).toMatchObject({ code: "timeout", status: 200 });
  });

  test("with the server is incomplete", async () => {
    await using dying = await startTestServer({ settings: { drainMs: 50 }, scenarios });
    const chunks = connect({}, dying).stream(playing("stall-late"));
    await chunks.next();
    const closing = dying.running.close();
    const error = await errorOf(Array.fromAsync(chunks));
    await closing;
    expect(error).toHaveProperty("code", expect.stringMatching(/^(incomplete_stream|service_unavailable)$/));
    expect(error instanceof IncompleteStreamError || error instanceof APIError).toBe(true);
  });
});

describe("leaving", () => {
  test.each([
    [
      "the loop",
      async () => {
        for await (const { choices } of connect().stream(playing("endless"))) {
          if (choices[0]?.delta.content === " more") break;
        }
      },
    ],
    [
      "a stream by its signal",
      async () => {
        const controller = new AbortController();
        const chunks = connect().stream(playing("endless"), { signal: controller.signal });
        await chunks.next();
        controller.abort("enough");
        expect(await errorOf(Array.fromAsync(chunks))).toBe("enough");
      },
    ],
    [
      "a call that is not streamed",
      async () => {
        const signal = AbortSignal.timeout(1000);
        expect(await errorOf(connect().create(playing("endless"), { signal }))).toHaveProperty("name", "TimeoutError");
      },
    ],
    [
      "by a time limit",
      async () => {
        expect(await errorOf(connect({ timeoutMs: 1000 }).create(playing("endless")))).toHaveProperty(
          "code",
          "client_timeout",
        );
      },
    ],
  ])("%s stops the engine within a second", async (_title, leave) => {
    const before = await readAborted(server);
    await leave();
    await until(
      () => readAborted(server),
      (count) => count === before + 1,
      1000,
    );
  });

  test("reading a stream to its end is not a hang-up", async () => {
    const before = await readAborted(server);
    for (let turn = 0; turn < 5; turn += 1) await collect(connect().stream(hello));
    expect(await readAborted(server)).toBe(before);
  });
});

test("retries as the service asks, until it answers", async () => {
  const parley = connect({ apiKey: await server.makeKey({ requestsPerMinute: 600 }), maxRetries: 2 });
  const many = await Promise.all(Array.from({ length: 20 }, () => parley.create(hello)));
  expect(many).toHaveLength(20);
  const single = connect({ apiKey: await server.makeKey({ concurrency: 1 }), maxRetries: 3 });
  const statuses: number[] = [];
  const holding = single.stream(playing("stall-late"));
  await holding.next();
  const onResponse = ({ status }: { readonly status: number }): void => {
    statuses.push(status);
    void holding.return();
  };
  const answer = await single.create(hello, { onResponse });
  expect(answer.choices[0]?.finish_reason).toBe("stop");
  expect([statuses[0], statuses.at(-1)]).toEqual([429, 200]);
});
