import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { APIError, IncompleteStreamError, MalformedResponseError, TimeoutError, collect } from "../src/index.ts";
import type { ChatCompletionChunk } from "../src/index.ts";
import { connect, errorOf, hello, textOf } from "./ask.ts";
import { answer, done, event, reset, stall, startStub, stream, wholeStream } from "./stub-server.ts";
import type { Reply, StubServer } from "./stub-server.ts";

const chunksOf = (stub: StubServer): Promise<ChatCompletionChunk[]> =>
  Array.fromAsync(connect(stub.baseURL).stream(hello));

/** Returns the error, and the text that the loop read before it. */
async function brokenStream(reply: Reply): Promise<{ readonly error: unknown; readonly seen: string }> {
  await using stub = await startStub(reply);
  const seen: ChatCompletionChunk[] = [];
  const loop = async (): Promise<void> => {
    for await (const chunk of connect(stub.baseURL).stream(hello)) seen.push(chunk);
  };
  const error = await errorOf(loop());
  expect(error).toHaveProperty("chunks", seen);
  return { error, seen: textOf(seen) };
}

describe("a whole stream", () => {
  test("gives its chunks, and collect() the answer", async () => {
    await using stub = await startStub(stream(wholeStream));
    expect(textOf(await chunksOf(stub))).toBe("Hello.");
    expect(JSON.parse(stub.requests[0]?.body ?? "")).toEqual({ ...hello, stream: true });
    const { choices } = await collect(connect(stub.baseURL).stream(hello));
    expect(choices).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: "Hello.", refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ]);
  });

  test("may be cut anywhere, have comments and any line ends", async () => {
    const text = `: keep-alive\r\n\r\n${wholeStream.replaceAll("\n", "\r\n")}`;
    await using stub = await startStub(
      stream("", async (response) => {
        for (const piece of text.match(/[^]{1,7}/g) ?? []) {
          response.write(piece);
          await new Promise(setImmediate);
        }
        response.end();
      }),
    );
    expect(textOf(await chunksOf(stub))).toBe("Hello.");
  });

  test("yields each chunk when it arrives", async () => {
    let release: (() => void) | undefined;
    await using stub = await startStub(
      stream(event("Hel"), async (response) => {
        await new Promise<void>((resolve) => (release = resolve));
        response.end(event("", "stop") + done);
      }),
    );
    const chunks = connect(stub.baseURL).stream(hello);
    expect((await chunks.next()).value?.choices[0]?.delta.content).toBe("Hel");
    release?.();
    expect((await chunks.next()).value?.choices[0]?.finish_reason).toBe("stop");
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });

  test("ends with its [DONE], whatever follows", async () => {
    const after = `${event("more")}data: {"error":{}}\n\nno event`;
    await using stub = await startStub(stream(wholeStream + after), stream(wholeStream, stall));
    expect(textOf(await chunksOf(stub))).toBe("Hello.");
    expect(textOf(await chunksOf(stub))).toBe("Hello.");
    // The client does not wait for a service that never ends its answer.
    expect(await stub.requests[1]?.closed).toBe("hung up");
  });

  test("leaves its connection for the next request", async () => {
    await using stub = await startStub(stream(wholeStream, (response) => setTimeout(() => response.end(), 30)));
    await chunksOf(stub);
    expect(await stub.requests[0]?.closed).toBe("complete");
    // The end of the answer arrives in a later round of the event loop.
    for (let round = 0; round < 10; round += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    await chunksOf(stub);
    expect(stub.requests.map(({ connection }) => connection)).toEqual([0, 0]);
  });

  test("may hold values and members that this version does not know", async () => {
    const chunk = JSON.parse(event("", "paused").slice(6)) as object; // this test's own event
    const later = `data: ${JSON.stringify({ ...chunk, object: "chat.completion.part", mood: "calm" })}\n\n`;
    await using stub = await startStub(stream(event("Hel") + later + done));
    const { choices } = await collect(connect(stub.baseURL).stream(hello));
    expect(choices).toMatchObject([{ message: { content: "Hel" }, finish_reason: "paused" }]);
  });

  test("sends nothing before its first chunk is asked for", async () => {
    await using stub = await startStub(stream(wholeStream));
    const chunks = connect(stub.baseURL).stream(hello);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(stub.requests).toHaveLength(0);
    await chunks.return();
    expect(stub.requests).toHaveLength(0);
  });
});

describe("a stream that is not whole", () => {
  test.each([
    ["ends without its [DONE]", stream(event("Hel") + event("", "stop"))],
    ["ends within its [DONE]", stream(`${event("Hel")}data: [DONE]\n`)],
    ["breaks", stream(event("Hel"), reset)],
  ])("throws what arrived when it %s", async (_title, reply) => {
    const { error, seen } = await brokenStream(reply);
    expect(error).toBeInstanceOf(IncompleteStreamError);
    expect(error).toMatchObject({ code: "incomplete_stream", requestId: "req_stub", retry: { helps: "maybe" } });
    expect(seen).toBe("Hel");
  });

  test("has the error of the connection as its cause", async () => {
    const { error } = await brokenStream(stream(event("Hel"), reset));
    expect(error).toHaveProperty("cause", expect.any(Error));
  });

  test("throws the service's error unchanged, and ignores everything after it", async () => {
    const failure =
      'data: {"error":{"message":"The engine broke off.","type":"server_error","param":null,"code":"upstream_error"},"request_id":"req_stub"}\n\n';
    const { error, seen } = await brokenStream(stream(event("Hel") + failure + event("lo.") + done));
    expect(seen).toBe("Hel");
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({
      message: "The engine broke off.",
      code: "upstream_error",
      status: 200,
      requestId: "req_stub",
      retry: { helps: "maybe", isAutomatic: false },
    });
  });

  test("throws an error whose code and type this version does not know", async () => {
    const failure = 'data: {"error":{"message":"It rained.","type":"weather","param":null,"code":"rain"}}\n\n';
    const { error } = await brokenStream(stream(event("Hel") + failure));
    expect(error).toMatchObject({ message: "It rained.", code: "rain", type: "weather", retry: { helps: "maybe" } });
  });

  test.each([
    ["an event is not JSON", stream(`${event("Hel")}data: {"id"\n\n`)],
    ["an event is not a chunk", stream(`${event("Hel")}data: null\n\n`)],
    ["an event has no choices", stream(`${event("Hel")}data: {}\n\n`)],
  ])("throws a malformed response when %s", async (_title, reply) => {
    const { error, seen } = await brokenStream(reply);
    expect(error).toBeInstanceOf(MalformedResponseError);
    expect(seen).toBe("Hel");
  });

  test.each([
    ["a page", answer(200, "<html>Sign in</html>", { "content-type": "text/html" }), "text/html"],
    ["a JSON answer", answer(200, "{}"), "application/json"],
    ["nothing", (response: Parameters<Reply>[0]) => response.writeHead(200).end(), "nothing"],
    [
      "a page without an end",
      (response: Parameters<Reply>[0]) => response.writeHead(200, { "content-type": "text/html" }).write("<html>"),
      "text/html",
    ],
  ])("throws a malformed response when a success is %s instead", async (_title, reply, word) => {
    await using stub = await startStub(reply);
    const error = await errorOf(chunksOf(stub));
    expect(error).toBeInstanceOf(MalformedResponseError);
    expect(String(error)).toContain(word);
    await stub.requests[0]?.closed;
  });

  test("makes collect() throw, too", async () => {
    await using stub = await startStub(stream(event("Hel"), reset));
    const error = await errorOf(collect(connect(stub.baseURL).stream(hello)));
    expect(error).toBeInstanceOf(IncompleteStreamError);
    expect(error).toHaveProperty("chunks.0.choices.0.delta.content", "Hel");
  });
});

describe("leaving a stream", () => {
  test.each(["break", "throw", "return()"])("by %s hangs up", async (way) => {
    await using stub = await startStub(stream(event("Hel"), stall));
    const chunks = connect(stub.baseURL).stream(hello);
    const leave = async (): Promise<void> => {
      if (way === "return()") {
        await chunks.next();
        await chunks.return();
        return;
      }
      for await (const _ of chunks) {
        if (way === "throw") throw new Error("left");
        break;
      }
    };
    await leave().catch(() => undefined);
    expect(await stub.requests[0]?.closed).toBe("hung up");
  });

  test("by a signal hangs up, and throws its reason, while waiting or between two chunks", async () => {
    await using stub = await startStub(stream(event("Hel"), stall));
    for (const isWaiting of [true, false]) {
      const controller = new AbortController();
      const chunks = connect(stub.baseURL).stream(hello, { signal: controller.signal });
      await chunks.next();
      if (isWaiting) setTimeout(() => controller.abort("enough"), 20);
      else controller.abort("enough");
      expect(await errorOf(chunks.next())).toBe("enough");
      expect(await stub.requests.at(-1)?.closed).toBe("hung up");
    }
  });

  test("keeps no reference to a signal, however the stream ends", async () => {
    await using stub = await startStub(stream(wholeStream), stream(event("Hel"), reset), stream(event("Hel"), stall));
    const { signal } = new AbortController();
    const parley = connect(stub.baseURL);
    await collect(parley.stream(hello, { signal }));
    await errorOf(collect(parley.stream(hello, { signal })));
    for await (const _ of parley.stream(hello, { signal })) break;
    expect(stub.requests).toHaveLength(3);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("hangs up even if fetch ignores its signal", async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(event("Hel"))),
      cancel: () => void (isCancelled = true),
    });
    const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    for await (const _ of connect("http://x", { fetch }).stream(hello)) break;
    expect(isCancelled).toBe(true);
  });
});

describe("idleTimeoutMs", () => {
  test("bounds the silence of a stream", async () => {
    await using stub = await startStub(stream(event("Hel"), stall));
    const chunks = connect(stub.baseURL, { idleTimeoutMs: 300 }).stream(hello);
    await chunks.next();
    const error = await errorOf(chunks.next());
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ requestId: "req_stub", chunks: [{ choices: [{ delta: { content: "Hel" } }] }] });
    expect(await stub.requests[0]?.closed).toBe("hung up");
  });

  test("counts comments as keep-alives, and not the time that the loop takes", async () => {
    const alive: Reply = (response) => {
      let beats = 0;
      const timer = setInterval(() => {
        beats += 1;
        if (beats < 6) return void response.write(": keep-alive\n\n");
        clearInterval(timer);
        response.end(wholeStream);
      }, 150);
    };
    await using stub = await startStub(stream(event("Oh. "), alive));
    const seen: ChatCompletionChunk[] = [];
    for await (const chunk of connect(stub.baseURL, { idleTimeoutMs: 500 }).stream(hello)) {
      if (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 600));
      seen.push(chunk);
    }
    expect(textOf(seen)).toBe("Oh. Hello.");
  });
});
