import { describe, expect, test } from "vitest";
import { collect } from "../src/index.ts";
import { connect, errorOf, hello, textOf } from "./ask.ts";
import { answer, completion, done, event, fail, reset, stall, startStub, stream, wholeStream } from "./stub-server.ts";

describe("withResponse()", () => {
  test("returns the answer, its response and its request id", async () => {
    await using stub = await startStub(answer(200, completion, { "x-ignored-params": "store" }));
    const { data, response, requestId } = await connect(stub.baseURL).create(hello).withResponse();
    expect(data).toEqual(completion);
    expect(response.headers.get("x-ignored-params")).toBe("store");
    expect(requestId).toBe("req_stub");
    expect(stub.requests).toHaveLength(1);
  });

  test("works for models, too", async () => {
    await using stub = await startStub(answer(200, { object: "list", data: [{ id: "a" }] }));
    const { data, response } = await connect(stub.baseURL).models().withResponse();
    expect([data, response.status]).toEqual([[{ id: "a" }], 200]);
  });

  test("fails once, with the error of the answer", async () => {
    await using stub = await startStub(fail(400, "invalid_value"));
    const error = await errorOf(connect(stub.baseURL).create(hello).withResponse());
    expect(error).toMatchObject({ code: "invalid_value", requestId: "req_stub" });
    expect(stub.requests).toHaveLength(1);
  });

  test("of a stream sends the request and loses no chunk", async () => {
    await using stub = await startStub(stream(wholeStream));
    const { data, response, requestId } = await connect(stub.baseURL).stream(hello).withResponse();
    expect([response.status, requestId]).toEqual([200, "req_stub"]);
    expect(textOf(await Array.fromAsync(data))).toBe("Hello.");
    expect(stub.requests).toHaveLength(1);
  });

  test("of a stream that has begun takes no chunk from the loop", async () => {
    await using stub = await startStub(stream(wholeStream));
    const chunks = connect(stub.baseURL).stream(hello);
    await chunks.next();
    expect((await chunks.withResponse()).requestId).toBe("req_stub");
    expect((await chunks.next()).value?.choices[0]?.delta.content).toBe("lo.");
    await chunks.return();
  });

  test("of a stream that is then left unread hangs up", async () => {
    await using stub = await startStub(stream(event("Hel"), stall));
    const { data } = await connect(stub.baseURL).stream(hello).withResponse();
    await data.return();
    expect(await stub.requests[0]?.closed).toBe("hung up");
  });

  test("of a stream that was left at once throws a TypeError", async () => {
    const chunks = connect("http://127.0.0.1:9/v1").stream(hello);
    await chunks.return();
    expect(await errorOf(chunks.withResponse())).toEqual(
      new TypeError("The stream was left before its request was sent."),
    );
  });

  test("of a stream fails with the error of its first chunk", async () => {
    await using stub = await startStub(fail(401, "invalid_api_key"));
    expect(await errorOf(connect(stub.baseURL).stream(hello).withResponse())).toMatchObject({ status: 401 });
  });
});

describe("finalMessage() and finalText()", () => {
  test("read the stream that no loop has read", async () => {
    await using stub = await startStub(stream(wholeStream));
    const { stream: open } = connect(stub.baseURL);
    expect(await open(hello).finalText()).toBe("Hello.");
    expect(await open(hello).finalMessage()).toEqual({ role: "assistant", content: "Hello.", refusal: null });
  });

  test("include the chunks that a loop has read, some or all", async () => {
    await using stub = await startStub(stream(wholeStream));
    const chunks = connect(stub.baseURL).stream(hello);
    await chunks.next();
    expect(await chunks.finalText()).toBe("Hello.");
    expect(await chunks.finalText()).toBe("Hello.");
    const looped = connect(stub.baseURL).stream(hello);
    const { choices } = await collect(looped);
    expect(await looped.finalMessage()).toEqual(choices[0]?.message);
  });

  test("throw the error of reading, and later that the answer is incomplete", async () => {
    await using stub = await startStub(stream(event("Hel") + event("", "stop"), reset));
    const chunks = connect(stub.baseURL).stream(hello);
    expect(await errorOf(chunks.finalText())).toMatchObject({ code: "incomplete_stream", requestId: "req_stub" });
    expect(await errorOf(chunks.finalText())).toMatchObject({ code: "incomplete_stream" });
  });

  test("throw after a loop has left the stream", async () => {
    await using stub = await startStub(stream(event("Hel") + event("", "stop") + done));
    const chunks = connect(stub.baseURL).stream(hello);
    for await (const _ of chunks) break;
    expect(await errorOf(chunks.finalMessage())).toMatchObject({ code: "incomplete_stream", requestId: "req_stub" });
  });
});
