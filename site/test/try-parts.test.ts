import { describe, expect, test } from "vitest";
import { codeSamples } from "../src/try/code-samples.ts";
import { complete, placeAt } from "../src/try/complete.ts";
import { answerDemo } from "../src/try/demo-answer.ts";
import { gather, nothing } from "../src/try/gather.ts";
import { priceOf, sum } from "../src/browser/try/money.ts";
import { readEvents } from "../src/try/read-events.ts";
import { requestSchema } from "../src/try/schema.ts";
import type { Json, JsonObject } from "../src/try/schema.ts";
import { demoData, tryData } from "../src/try/try-data.ts";
import { validateRequest } from "../src/try/validate.ts";
import { sources } from "./built-site.ts";

/** The parts of the pages that send requests, without a browser. */

const data = tryData(sources.contract);
const recordings = demoData(sources.contract, []);
const root = { $ref: requestSchema };
const faultsOf = (request: Json): string[] =>
  validateRequest(data.schemas, root, request).map(({ param, code }) => `${code} ${param}`);
const hello: JsonObject = { model: "vendor/model-1", messages: [{ role: "user", content: "Hello" }] };

describe("the validator", () => {
  test.each(data.examples.filter(({ name }) => name !== "fault"))("accepts the example $name", ({ request }) => {
    expect(faultsOf(request)).toEqual([]);
  });

  test.each<[Json, string]>([
    [{ messages: [] }, "missing_required_parameter model"],
    [{ ...hello, messages: [] }, "invalid_value messages"],
    [{ ...hello, messages: [{ role: "robot", content: "" }] }, "invalid_value messages[0].role"],
    [{ ...hello, messages: [{ content: "" }] }, "missing_required_parameter messages[0].role"],
    [{ ...hello, messages: [{ role: "user", content: 7 }] }, "invalid_type messages[0].content"],
    [{ ...hello, temperature: "hot" }, "invalid_type temperature"],
    [{ ...hello, temperature: 2.5 }, "invalid_value temperature"],
    [{ ...hello, top_p: 0 }, "invalid_value top_p"],
    [{ ...hello, n: 1.5 }, "invalid_type n"],
    [{ ...hello, stop: ["a", ""] }, "invalid_value stop[1]"],
    [{ ...hello, logit_bias: { x: 1 } }, "invalid_value logit_bias.x"],
    [{ ...hello, functions: [] }, "unsupported_parameter functions"],
    [{ ...hello, stream_options: {} }, "invalid_value stream_options"],
    [{ ...hello, top_logprobs: 2 }, "invalid_value top_logprobs"],
    [{ ...hello, tool_choice: { type: "function" } }, "missing_required_parameter tool_choice.function"],
  ])("finds the fault of %j", (request, fault) => {
    expect(faultsOf(request)).toContain(fault);
  });
});

describe("the completion", () => {
  const labelsAt = (text: string): string[] => {
    const caret = text.indexOf("|");
    const place = placeAt(text.replace("|", ""), caret);
    return place ? complete(data.schemas, root, place, ["vendor/model-1"]).map(({ label }) => label) : [];
  };

  test.each([
    ['{"te|', ["temperature"]],
    ['{"model": "vendor/model-1", "mo|', []],
    ['{"model": "|', ["vendor/model-1"]],
    ['{"messages": [{"role": "u|', ["user"]],
    ['{"messages": [{"role": "user", "con|"}]}', ["content"]],
    ['{"stream": |', ["true", "false"]],
    ['{"stream_options": {"|', ["include_usage"]],
    ['{"tool_choice": "re|', ["required"]],
    ['{"response_format": {"type": "json_|', ["json_object", "json_schema"]],
    ["|", []],
  ])("at %s it offers %j", (text, labels) => {
    expect(labelsAt(text)).toEqual(labels);
  });
});

describe("money", () => {
  test("sums are exact where doubles are not", () => {
    expect(sum(["0.1", "0.2"])).toBe("0.3");
    expect(sum(["0.0000102", "1", "2.50"])).toBe("3.5000102");
    expect(sum([])).toBe("0");
  });

  test("the price of tokens is exact", () => {
    expect(priceOf("0.0000003", 16)).toBe("0.0000048");
    expect(priceOf("2", 3)).toBe("6");
  });
});

test("events are read however the bytes are cut", async () => {
  const bytes = new TextEncoder().encode(": ping\r\n\r\ndata: é\n\ndata: a\ndata: b\r\n\r\ndata: [DONE]\n\n");
  for (let size = 1; size <= bytes.length; size += 1) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const events: string[] = [];
    for await (const event of readEvents(body)) events.push(event);
    expect([size, events]).toEqual([size, ["é", "a\nb", "[DONE]"]]);
  }
});

describe("the demo", () => {
  const ask = (request: JsonObject, key = "demo"): Response =>
    answerDemo(recordings, { method: "POST", path: "/v1/chat/completions", key, body: JSON.stringify(request) });

  test.each(data.examples.filter(({ name }) => name !== "fault"))(
    "answers the example $name whole and as a stream",
    { timeout: 30_000 },
    async ({ request }) => {
      // JSON.parse in `json()` returns JSON.
      const whole = gather(
        nothing,
        (await ask({ ...request, stream: false, stream_options: null }).json()) as JsonObject,
      );
      const stream = ask({ ...request, stream: true, stream_options: { include_usage: true } });
      let streamed = nothing;
      let end = "";
      for await (const event of readEvents(stream.body ?? new ReadableStream())) {
        if (event !== "[DONE]") streamed = gather(streamed, JSON.parse(event) as JsonObject); // see above
        end = event;
      }
      expect(end).toBe("[DONE]");
      for (const { choices, usage } of [whole, streamed]) {
        expect(choices.every(({ text, calls, finish }) => (text !== "" || calls.length > 0) && finish !== null)).toBe(
          true,
        );
        expect(usage?.cost).toMatch(/^0\.0*[1-9]/);
      }
    },
  );

  test("refuses a wrong key, an unknown model and an invalid request as the service does", async () => {
    expect(ask(hello, "other").status).toBe(401);
    expect(ask({ ...hello, model: "x" }).status).toBe(404);
    const refusal = ask({ ...hello, logprobs: true, top_logprobs: 21 });
    expect([refusal.status, await refusal.json()]).toMatchObject([
      400,
      { error: { param: "top_logprobs", code: "invalid_value" } },
    ]);
  });
});

test("JSON of a request with quotation marks stays one argument of curl", () => {
  const body = JSON.stringify({ ...hello, user: "it's" });
  expect(codeSamples(hello, body)[0]?.code).toContain(String.raw`it'\''s`);
});
