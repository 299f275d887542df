import { describe, expect, test } from "vitest";
import { decimalProduct, decimalSum } from "@parley/contract/decimal";
import { miniId, modelId, say } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

// The engine's built-in reply is "You said: …", a token a word; RESP-02 and RESP-19 are judged by the harness.

const server = useServer({
  scenarios: {
    filtered: [{ role: true }, { text: "I" }, { finish: "content_filter" }],
    silent: [{ role: true }, { finish: "stop" }],
  },
});

describe("an answer", () => {
  test("HTTP-01 RESP-02 RESP-06 RESP-07 RESP-19 LOGP-01 is one JSON object, whatever Accept says", async () => {
    for (const accept of ["text/event-stream", "application/json", "*/*", "image/png", ""]) {
      const response = await server().chat(say("Hello"), { headers: { accept } });
      expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(await response.json()).toMatchObject({
        object: "chat.completion",
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: "You said: Hello", refusal: null },
            logprobs: null,
            finish_reason: "stop",
          },
        ],
      });
    }
  });

  test.each([modelId, miniId])("RESP-04 MODL-08 OPS-06 names the model that was asked for: %s", async (model) => {
    expect((await server().complete({ model })).model).toBe(model);
  });

  test("RESP-01 has an id of its own", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => server().complete()));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(20);
    expect(answers.every(({ id }) => /^chatcmpl-\w{16,}$/.test(id))).toBe(true);
  });

  test("RESP-03 tells when it was begun, in whole seconds", async () => {
    const before = Math.floor(Date.now() / 1000);
    const { created } = await server().complete();
    expect(created).toBeGreaterThanOrEqual(before);
    expect(created).toBeLessThanOrEqual(Date.now() / 1000);
    expect(Number.isInteger(created)).toBe(true);
  });

  test("RESP-20 has one fingerprint for each model", async () => {
    const [one, same, other] = await Promise.all([
      server().complete(),
      server().complete({ n: 2, temperature: 1 }),
      server().complete({ model: miniId }),
    ]);
    expect(same?.system_fingerprint).toBe(one?.system_fingerprint);
    expect(other?.system_fingerprint).not.toBe(one?.system_fingerprint);
  });

  test("RESP-07 RESP-08 may be empty, or withheld", async () => {
    const [silent] = (await server().complete(say("script:silent"))).choices;
    expect(silent).toMatchObject({ message: { content: "" }, finish_reason: "stop" });
    const [filtered] = (await server().complete(say("script:filtered"))).choices;
    expect(filtered).toMatchObject({ message: { content: "I" }, finish_reason: "content_filter" });
  });
});

describe("choices", () => {
  test("RESP-05 RESP-12 RESP-13 REQ-05 are as many as n asked for, the prompt counted once", async () => {
    const one = await server().complete();
    for (const n of [1, 2, 8]) {
      const { choices, usage } = await server().complete({ n });
      expect(choices.map(({ index }) => index)).toEqual(Array.from({ length: n }, (_, index) => index));
      expect(choices.every(({ message }) => message.content === "You said: Hello")).toBe(true);
      expect(usage.prompt_tokens).toBe(one.usage.prompt_tokens);
      expect(usage.completion_tokens).toBe(n * one.usage.completion_tokens);
    }
  });
});

describe("the end of a choice", () => {
  const words = say("one two three");

  test.each([
    ["RESP-09 length where the cap ended it", { max_completion_tokens: 2 }, "You said:", "length", 2],
    [
      "RESP-10 stop where the model ended it at the cap",
      { max_completion_tokens: 5 },
      "You said: one two three",
      "stop",
      5,
    ],
    ["REQ-26 max_tokens alone is the cap", { max_tokens: 2 }, "You said:", "length", 2],
    [
      "REQ-25 max_completion_tokens holds over max_tokens",
      { max_completion_tokens: 3, max_tokens: 1 },
      "You said: one",
      "length",
      3,
    ],
    ["SAMP-04 SAMP-05 stop where a text of stop came", { stop: ["two"] }, "You said: one ", "stop", 4],
    ["SAMP-05 a text of stop over two tokens", { stop: ["ne t"] }, "You said: o", "stop", 4],
    ["SAMP-04 the first place counts", { stop: ["three", "said"] }, "You ", "stop", 2],
    ["REQ-05 four texts of stop", { stop: ["w", "x", "y", "z"] }, "You said: one t", "stop", 4],
    ["a text of stop that does not come", { stop: ["four"] }, "You said: one two three", "stop", 5],
  ] as const)("%s", async (_title, members, content, reason, tokens) => {
    const { choices, usage } = await server().complete({ ...words, ...members });
    expect(choices[0]).toMatchObject({ message: { content }, finish_reason: reason });
    expect(usage.completion_tokens).toBe(tokens);
  });

  test("SAMP-06 a stop of one string means the same as a list of it", async () => {
    const [text, list] = await Promise.all([
      server().complete({ ...words, stop: "two" }),
      server().complete({ ...words, stop: ["two"] }),
    ]);
    expect(text?.choices).toEqual(list?.choices);
  });

  test("SAMP-07 a text of stop is looked for in content only", async () => {
    const { choices } = await server().complete({ ...words, stop: "caller", reasoning_effort: "high" });
    expect(choices[0]?.message).toMatchObject({
      content: "You said: one two three",
      reasoning: "The caller asks something.",
    });
  });
});

describe("usage", () => {
  test("RESP-11 RESP-14 RESP-15 RESP-16 adds up, and costs exactly what the record says", async () => {
    const { data } = (await (await server().fetch("/models")).json()) as {
      data: { id: string; pricing: Record<"prompt" | "completion" | "request", string> }[];
    };
    for (const { id, pricing } of data) {
      const { usage } = await server().complete({ model: id, n: 3, reasoning_effort: "low", ...say("a b c d e f g") });
      const { prompt_tokens: prompt, completion_tokens: completion } = usage;
      expect(usage.total_tokens).toBe(prompt + completion);
      expect(usage.prompt_tokens_details.cached_tokens).toBeLessThanOrEqual(prompt);
      expect(usage.completion_tokens_details.reasoning_tokens).toBe(3 * 4);
      const price = [decimalProduct(pricing.prompt, prompt), decimalProduct(pricing.completion, completion)];
      expect(usage.cost_usd).toBe(decimalSum(...price, pricing.request));
    }
  });
});

describe("reasoning", () => {
  test("RESP-17 RESP-18 stands under both names, and not in the content", async () => {
    const { choices } = await server().complete({ reasoning_effort: "medium" });
    expect(choices[0]?.message).toMatchObject({
      content: "You said: Hello",
      reasoning: "The caller asks something.",
      reasoning_content: "The caller asks something.",
    });
  });

  test("RESP-21 none, like the default of these models, does not think", async () => {
    for (const members of [{ reasoning_effort: "none" }, {}, { reasoning_effort: null }]) {
      const { choices, usage } = await server().complete(members);
      expect(choices[0]?.message).not.toHaveProperty("reasoning");
      expect(choices[0]?.message).not.toHaveProperty("reasoning_content");
      expect(usage.completion_tokens_details.reasoning_tokens).toBe(0);
    }
  });

  test("RESP-22 RESP-09 counts against the cap", async () => {
    const { choices, usage } = await server().complete({ reasoning_effort: "high", max_tokens: 3 });
    expect(choices[0]).toMatchObject({
      message: { content: "", reasoning: "The caller asks" },
      finish_reason: "length",
    });
    expect(usage).toMatchObject({ completion_tokens: 3, completion_tokens_details: { reasoning_tokens: 3 } });
  });
});
