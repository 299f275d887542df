import { describe, expect, test } from "vitest";
import { assertRefused } from "../../../test/refused.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();

describe("REQ-37 a member of another service that would change the answer", () => {
  test.each([
    ["reasoning", { reasoning: { effort: "high" } }, "reasoning_effort"],
    ["reasoning that is off", { reasoning: { enabled: false } }, "reasoning_effort"],
    ["reasoning that is hidden", { reasoning: { exclude: true } }, "reasoning_effort"],
    ["chat_template_kwargs", { chat_template_kwargs: { enable_thinking: false } }, "reasoning_effort"],
    ["enable_thinking", { enable_thinking: false }, "reasoning_effort"],
    ["thinking", { thinking: { type: "disabled" } }, "reasoning_effort"],
    ["guided_json", { guided_json: { type: "object" } }, "response_format"],
    ["guided_choice", { guided_choice: ["a", "b"] }, "response_format"],
    ["structured_outputs", { structured_outputs: { regex: "a+" } }, "response_format"],
    ["stop_token_ids", { stop_token_ids: [7] }, "stop"],
    ["continue_final_message", { continue_final_message: true }, "new message"],
    ["include_reasoning that is off", { include_reasoning: false }, "reasoning_effort"],
    ["separate_reasoning that is off", { separate_reasoning: false }, "content"],
    ["functions", { functions: [{ name: "f" }] }, "tools"],
    ["function_call", { function_call: "auto" }, "tool_choice"],
    ["prompt", { prompt: "Hello" }, "messages"],
    ["input", { input: "Hello" }, "messages"],
    ["max_output_tokens", { max_output_tokens: 5 }, "max_completion_tokens"],
  ])("%s is refused, with what to use instead", async (_title, members, instead) => {
    const [param] = Object.keys(members);
    const message = await assertRefused(server(), members, { code: "unsupported_parameter", param: param ?? "" });
    expect(message).toContain(instead);
    expect((await server().refuse({ ...members, stream: true })).param).toBe(param);
  });

  test("in a message is named by its path", async () => {
    const messages = [
      { role: "user", content: "a" },
      { role: "assistant", content: "It is", prefix: true },
    ];
    await assertRefused(server(), { messages }, { code: "unsupported_parameter", param: "messages[1].prefix" });
  });

  test("HTTP-21 of several the first of the contract's list is told, and faults of the schema come first", async () => {
    const members = { prompt: "a", guided_json: {}, reasoning: { effort: "low" } };
    expect(await server().refuse(members)).toMatchObject({ param: "reasoning" });
    expect(await server().refuse({ ...members, user: 1 })).toMatchObject({ code: "invalid_type", param: "user" });
    const strict = { headers: { "x-strict-params": "true" } };
    expect(await server().refuse({ mood: 1, prompt: "a" }, strict)).toMatchObject({ param: "prompt" });
  });
});
