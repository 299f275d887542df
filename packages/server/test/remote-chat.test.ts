import { describe, expect, test } from "vitest";
import { miniFolder } from "@parley/inference/testing";
import { chatWell, chunk, done, openPlace, refusePlace, replay, say as answer } from "@parley/inference/testing/places";
import type { Place } from "@parley/inference/testing/places";
import { miniId, say, startTestServer, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";

/** A model of an upstream that has only a chat route, from `parley.yaml` to the caller. */

interface Started extends AsyncDisposable {
  readonly server: TestServer;
  readonly place: Place;
}

async function start(listed: object, chat = chatWell): Promise<Started> {
  const place = await openPlace(chat, 0, "/v1/chat/completions");
  place.listed = listed;
  const remote = { urls: [place.url], model: "there", tokenizer: miniFolder, protocol: "chat" } as const;
  const models = { "model-1-mini": { engine: "remote", remote } } as const;
  const server = await startTestServer({ settings: { models } });
  return { server, place, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const ask = { model: miniId, max_completion_tokens: 200 };

describe("a service that has only a chat route", () => {
  test("is passed on in the form of the contract, with reasoning and calls, and charged", async () => {
    await using started = await start({ owned_by: "vllm" });
    const { server, place } = started;
    expect(await server.stream(ask)).toMatchObject({ end: "done", text: "abcdefgh" });
    place.answer = replay("reasoning", "vllm-0.32.0-chat");
    const thought = await server.complete({ ...ask, reasoning_effort: "low" });
    expect(thought.choices[0]?.message).toMatchObject({ reasoning: "The user asks about MEV." });
    expect(thought.usage).toMatchObject({ prompt_tokens: 14, completion_tokens: 54 });
    place.answer = replay("tool-auto-stream", "vllm-0.32.0-chat");
    const symbol = { type: "object", properties: { symbol: { type: "string" } }, required: ["symbol"] };
    const tools = [{ type: "function", function: { name: "get_price", parameters: symbol } }];
    expect((await server.stream({ ...ask, tools })).end).toBe("done");
    const rows = await until(
      () => server.ledger(),
      (all) => all.every(({ outcome }) => outcome !== "open"),
    );
    expect(rows.map((row) => row.completion_tokens)).toEqual([8, 54, 20]);
  });

  test("that is gone is not ready from the first request on that finds it so", async () => {
    await using started = await start({ owned_by: "vllm" });
    const { server, place } = started;
    await place.stop();
    const refusal = await server.refuse(ask);
    expect(refusal).toMatchObject({ status: 503, code: "service_unavailable" });
    expect(refusal.headers.get("retry-after")).toBe("2");
    expect((await fetch(`${server.origin}/ready?model=${miniId}`)).status).toBe(503);
  });

  test("that ends with [DONE] and no finish has failed", async () => {
    await using started = await start({ owned_by: "vllm" });
    const { server, place } = started;
    place.answer = answer(chunk({ content: "ab" }) + done);
    const { end, error } = await server.stream(ask);
    expect([end, error?.code]).toEqual(["failed", "upstream_error"]);
  });

  test("MSG-21 is not asked with a text that spells a special token", async () => {
    await using started = await start({});
    const { server, place } = started;
    const before = place.asked;
    expect(await server.refuse({ ...ask, ...say("a<|im_end|>b") })).toMatchObject({
      status: 400,
      code: "invalid_value",
      param: "messages[0].content",
      message: expect.stringContaining("messages[0].content spells <|im_end|>"),
    });
    expect(place.asked).toBe(before);
  });

  test("REQ-21 and is not vLLM has none of vLLM's own sampling parameters, also in the model list", async () => {
    await using started = await start({});
    const { server } = started;
    const refusal = { status: 400, code: "unsupported_parameter", param: "top_k" };
    expect(await server.refuse({ ...ask, top_k: 5 })).toMatchObject(refusal);
    expect((await server.complete({ ...ask, top_k: 0 })).choices).toHaveLength(1);
    const model = (await (await server.fetch(`/models/${miniId}`)).json()) as {
      readonly supported_sampling_parameters: readonly string[];
    };
    expect(model.supported_sampling_parameters).toContain("top_p");
    expect(model.supported_sampling_parameters).not.toContain("top_k");
  });

  test("REQ-21 and takes no tools refuses them, and does not list them", async () => {
    const withoutTools: Place["answer"] = (response, text, request) => {
      const { tools } = JSON.parse(text) as { readonly tools?: unknown }; // written by the engine under test
      return (tools === undefined ? chatWell : refusePlace(400, "no tools"))(response, text, request);
    };
    await using started = await start({}, withoutTools);
    const { server } = started;
    const tools = [{ type: "function", function: { name: "f" } }];
    expect(await server.refuse({ ...ask, tools })).toMatchObject({
      status: 400,
      code: "unsupported_parameter",
      param: "tools",
    });
  });
});
