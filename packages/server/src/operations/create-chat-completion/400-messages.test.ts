import { describe, expect, test } from "vitest";
import { play, say } from "@parley/server/testing";
import { assertRefused } from "../../../test/refused.ts";
import { useServer } from "../../../test/use-server.ts";

// Every case has two good messages in front, so that the index in `param` is shown to be counted (ERR-09, ERR-10).

const server = useServer({
  scenarios: { refusal: [{ refuse: "The template refuses these messages: Roles must alternate." }] },
});
const before = [
  { role: "system", content: "Be brief." },
  { role: "user", content: [{ type: "text", text: "Hello" }] },
];
const pathAt = (path: string): string => `messages[2]${path}`;
const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };

describe("the list", () => {
  test("MSG-04 may not be empty", async () => {
    await assertRefused(server(), { messages: [] }, { code: "invalid_value", param: "messages" });
  });

  test("MSG-30 is refused where the model's template refuses it, in the template's words", async () => {
    const refused = { code: "invalid_value", param: "messages" };
    expect(await assertRefused(server(), play("refusal"), refused)).toContain("Roles must alternate.");
  });

  test("MSG-04 has at most 2048 messages", async () => {
    const messages = Array.from({ length: 2049 }, () => ({ role: "user", content: "a" }));
    await assertRefused(server(), { messages }, { code: "invalid_value", param: "messages" });
  });

  test.each([
    ["null", null],
    ["a text", "Hello"],
    ["a list", []],
  ])("holds objects, not %s", async (_title, message) => {
    await assertRefused(server(), { messages: [message] }, { code: "invalid_type", param: "messages[0]" });
  });
});

describe("a message", () => {
  test.each([
    ["MSG-02 of an unknown role", { role: "tester", content: "a" }, "invalid_value", ".role"],
    ["MSG-02 of the role of a template", { role: "ipython", content: "a" }, "invalid_value", ".role"],
    ["whose role is a number", { role: 1, content: "a" }, "invalid_type", ".role"],
    ["whose role is null", { role: null, content: "a" }, "invalid_type", ".role"],
    ["MSG-03 without a role", { content: "a" }, "missing_required_parameter", ".role"],
    ["MSG-06 without content", { role: "user" }, "missing_required_parameter", ".content"],
    ["MSG-06 of a tool without content", { role: "tool", tool_call_id: "a" }, "missing_required_parameter", ".content"],
    ["whose content is null", { role: "user", content: null }, "invalid_type", ".content"],
    ["whose content is a number", { role: "user", content: 5 }, "invalid_type", ".content"],
    ["whose content is an object", { role: "user", content: {} }, "invalid_type", ".content"],
    ["MSG-11 with no parts", { role: "user", content: [] }, "invalid_value", ".content"],
    ["whose name is a number", { role: "user", content: "a", name: 1 }, "invalid_type", ".name"],
    ["MSG-17 of a tool without a call", { role: "tool", content: "a" }, "missing_required_parameter", ".tool_call_id"],
    ["of a tool for call 1", { role: "tool", content: "a", tool_call_id: 1 }, "invalid_type", ".tool_call_id"],
    ["MSG-16 of the assistant with nothing", { role: "assistant" }, "missing_required_parameter", ".content"],
    ["MSG-16 with null content", { role: "assistant", content: null }, "missing_required_parameter", ".content"],
    [
      "MSG-16 with null content and no calls",
      { role: "assistant", content: null, tool_calls: [] },
      "missing_required_parameter",
      ".content",
    ],
    ["MSG-29 with audio", { role: "assistant", content: "a", audio: { id: "x" } }, "unsupported_parameter", ".audio"],
    [
      "MSG-29 with a function call of old",
      { role: "assistant", content: "a", function_call: { name: "f", arguments: "" } },
      "unsupported_parameter",
      ".function_call",
    ],
    ["whose refusal is a number", { role: "assistant", content: "a", refusal: 1 }, "invalid_type", ".refusal"],
    ["whose reasoning is a list", { role: "assistant", content: "a", reasoning: [] }, "invalid_type", ".reasoning"],
    [
      "whose reasoning_content is a number",
      { role: "assistant", content: "a", reasoning_content: 1 },
      "invalid_type",
      ".reasoning_content",
    ],
    [
      "whose annotations are a text",
      { role: "assistant", content: "a", annotations: "" },
      "invalid_type",
      ".annotations",
    ],
    ["whose calls are text, without content", { role: "assistant", tool_calls: "x" }, "invalid_type", ".tool_calls"],
    ["whose calls are an object", { role: "assistant", content: "a", tool_calls: {} }, "invalid_type", ".tool_calls"],
  ] as const)("%s", async (_title, message, code, path) => {
    await assertRefused(server(), { messages: [...before, message] }, { code, param: pathAt(path) });
  });
});

describe("a call of the assistant", () => {
  test.each([
    ["without an id", { ...call, id: undefined }, "missing_required_parameter", ".tool_calls[1].id"],
    ["without a type", { ...call, type: undefined }, "missing_required_parameter", ".tool_calls[1].type"],
    ["of another type", { ...call, type: "custom" }, "invalid_value", ".tool_calls[1].type"],
    ["without a function", { ...call, function: undefined }, "missing_required_parameter", ".tool_calls[1].function"],
    [
      "without a name",
      { ...call, function: { arguments: "" } },
      "missing_required_parameter",
      ".tool_calls[1].function.name",
    ],
    [
      "whose arguments are an object",
      { ...call, function: { name: "f", arguments: {} } },
      "invalid_type",
      ".tool_calls[1].function.arguments",
    ],
  ] as const)("%s", async (_title, broken, code, path) => {
    const message = { role: "assistant", content: null, tool_calls: [call, broken] };
    await assertRefused(server(), { messages: [...before, message] }, { code, param: pathAt(path) });
  });
});

describe("a part", () => {
  const good = { type: "text", text: "a" };

  test.each([
    [
      "MSG-12 an image",
      { type: "image_url", image_url: { url: "https://a.example/b.png" } },
      "unsupported_value",
      ".type",
    ],
    ["MSG-12 sound", { type: "input_audio", input_audio: { data: "", format: "wav" } }, "unsupported_value", ".type"],
    ["MSG-12 a file", { type: "file", file: {} }, "unsupported_value", ".type"],
    ["MSG-12 a refusal", { type: "refusal", refusal: "No." }, "unsupported_value", ".type"],
    ["MSG-13 of an unknown kind", { type: "hologram" }, "invalid_value", ".type"],
    ["MSG-13 of a kind that every object has", { type: "constructor" }, "invalid_value", ".type"],
    ["without a kind", { text: "a" }, "missing_required_parameter", ".type"],
    ["whose kind is a number", { type: 1, text: "a" }, "invalid_type", ".type"],
    ["MSG-14 without text", { type: "text" }, "missing_required_parameter", ".text"],
    ["whose text is null", { type: "text", text: null }, "invalid_type", ".text"],
    ["whose text is a number", { type: "text", text: 1 }, "invalid_type", ".text"],
    ["that is a text", "a", "invalid_type", ""],
    ["that is null", null, "invalid_type", ""],
  ] as const)("%s", async (_title, part, code, path) => {
    for (const role of ["user", "assistant", "system", "developer"]) {
      const members = { messages: [...before, { role, content: [good, part] }] };
      await assertRefused(server(), members, { code, param: pathAt(`.content[1]${path}`) });
    }
  });
});

test.each([
  [{ temperature: "0.5" }, "temperature must be a number, and is a string."],
  [{ max_tokens: 1.5 }, "max_tokens must be an integer, and is 1.5."],
  [{ messages: [null] }, "messages[0] must be an object, and is null."],
  [{ stop: { a: 1 } }, "stop must be a string or an array, and is an object."],
  [{ messages: [{ role: "user", content: [{ type: "input_text" }] }] }, 'messages[0].content[0].type must be "text".'],
  [
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "ftp://a/b.png" } }] }] },
    'messages[0].content[0].type is "image_url", which is not supported. It must be "text".',
  ],
  [{ logit_bias: { abc: 1 } }, "Each member name in logit_bias must match ^[0-9]+$."],
])("the message to %j says what must be, and what is", async (members, message) => {
  expect((await server().refuse(members)).message).toBe(message);
});

test("ERR-10 the first message at fault is named, whatever kind its fault has", async () => {
  const messages = [{ role: "assistant" }, { role: "user" }, { role: "nobody" }];
  const want = { code: "missing_required_parameter", param: "messages[0].content" };
  await assertRefused(server(), { messages }, want);
});

test("ERR-08 a fault in a long text does not bring the text back", async () => {
  const name = "x".repeat(100_000);
  const { param, message } = await server().refuse({ logit_bias: { ["9".repeat(100_000)]: 101 } });
  expect(param).toBe("logit_bias");
  expect(message.length).toBeLessThan(3000);
  const answer = await server().chat({ ...say("a"), [name]: 1 }, { headers: { "x-strict-params": "true" } });
  expect((await answer.text()).length).toBeLessThan(6000);
});
