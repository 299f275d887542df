import { describe, expect, test } from "vitest";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { assertRefused } from "../../../test/refused.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();
const tool = (name: unknown, more: object = {}) => ({ type: "function", function: { name, ...more } });
const named = (name: unknown) => ({ type: "function", function: { name } });

describe("tools", () => {
  test.each([
    ["TOOL-09 an empty list", [], "invalid_value", "tools"],
    ["TOOL-09 129 of them", Array.from({ length: 129 }, (_, index) => tool(`f${index}`)), "invalid_value", "tools"],
    ["a tool that is a text", ["f"], "invalid_type", "tools[0]"],
    ["a tool without a type", [{ function: { name: "f" } }], "missing_required_parameter", "tools[0].type"],
    ["TOOL-23 another type", [{ type: "custom", custom: {} }], "invalid_value", "tools[0].type"],
    [
      "TOOL-23 a later tool of another type",
      [tool("f"), { ...tool("g"), type: "web" }],
      "invalid_value",
      "tools[1].type",
    ],
    ["a type that is a number", [{ ...tool("f"), type: 1 }], "invalid_type", "tools[0].type"],
    ["no function", [{ type: "function" }], "missing_required_parameter", "tools[0].function"],
    ["no name", [tool(undefined)], "missing_required_parameter", "tools[0].function.name"],
    ["a name that is a number", [tool(1)], "invalid_type", "tools[0].function.name"],
    ["TOOL-07 a name with a blank", [tool("a b")], "invalid_value", "tools[0].function.name"],
    ["TOOL-07 a name with a letter beyond ASCII", [tool("fünf")], "invalid_value", "tools[0].function.name"],
    ["TOOL-07 an empty name", [tool("")], "invalid_value", "tools[0].function.name"],
    ["TOOL-07 a name of 65 characters", [tool("f".repeat(65))], "invalid_value", "tools[0].function.name"],
    ["TOOL-07 a name with a line break", [tool("f\n")], "invalid_value", "tools[0].function.name"],
    ["TOOL-08 a repeated name", [tool("f"), tool("g"), tool("f")], "invalid_value", "tools[2].function.name"],
    [
      "a description that is a number",
      [tool("f", { description: 1 })],
      "invalid_type",
      "tools[0].function.description",
    ],
    ["parameters that are a list", [tool("f", { parameters: [] })], "invalid_type", "tools[0].function.parameters"],
    ["strict that is a text", [tool("f", { strict: "true" })], "invalid_type", "tools[0].function.strict"],
  ] as const)("%s", async (_title, tools, code, param) => {
    await assertRefused(server(), { tools }, { code, param });
  });

  test.each([
    ["a type that does not exist", { type: "banana" }],
    ["properties that are a list", { type: "object", properties: [] }],
    ["a required member that is a number", { type: "object", required: [1] }],
    ["a fault deep inside", { type: "object", properties: { a: { items: { enum: 1 } } } }],
    ["a type that no arguments have", { type: "string" }],
  ])("TOOL-10 parameters with %s", async (_title, parameters) => {
    const tools = [tool("f"), tool("g", { parameters })];
    const want = { code: "invalid_schema", param: "tools[1].function.parameters" };
    for (const tool_choice of ["auto", "none", "required", named("f")])
      await assertRefused(server(), { tools, tool_choice }, want);
  });

  test("TOOL-18 a keyword that cannot be enforced, with a strict function", async () => {
    const parameters = { type: "object", properties: { a: { type: "string", pattern: "(a)\\1" } } };
    const members = { tools: [tool("f", { parameters, strict: true })] };
    const want = { code: "invalid_schema", param: "tools[0].function.parameters" };
    expect(await assertRefused(server(), members, want)).toContain('"pattern"');
  });
});

describe("tool_choice", () => {
  const tools = [tool("f")];

  test.each([
    ["TOOL-05 required without tools", { tool_choice: "required" }, "invalid_value", "tool_choice"],
    ["TOOL-05 required with null tools", { tool_choice: "required", tools: null }, "invalid_value", "tool_choice"],
    ["TOOL-05 a name without tools", { tool_choice: named("f") }, "invalid_value", "tool_choice"],
    ["TOOL-06 a name that is not offered", { tools, tool_choice: named("g") }, "invalid_value", "tool_choice"],
    ["an unknown word", { tools, tool_choice: "any" }, "invalid_value", "tool_choice"],
    ["no type", { tools, tool_choice: { function: { name: "f" } } }, "missing_required_parameter", "tool_choice.type"],
    ["no function", { tools, tool_choice: { type: "function" } }, "missing_required_parameter", "tool_choice.function"],
    ["no name", { tools, tool_choice: named(undefined) }, "missing_required_parameter", "tool_choice.function.name"],
    ["a bad name", { tools, tool_choice: named("a b") }, "invalid_value", "tool_choice.function.name"],
  ] as const)("%s", async (_title, members, code, param) => {
    await assertRefused(server(), members, { code, param });
  });
});

describe("response_format", () => {
  const format = (schema: unknown, name: unknown = "answer") => ({
    response_format: { type: "json_schema", json_schema: { name, schema } },
  });
  const unnamed = { response_format: { type: "json_schema", json_schema: { schema: {} } } };
  const path = "response_format.json_schema";

  test.each([
    ["FMT-12 an unknown kind", { response_format: { type: "xml" } }, "invalid_value", "response_format.type"],
    ["no json_schema", { response_format: { type: "json_schema" } }, "missing_required_parameter", path],
    ["FMT-05 no name", unnamed, "missing_required_parameter", `${path}.name`],
    ["FMT-05 no schema", format(undefined), "missing_required_parameter", `${path}.schema`],
    ["FMT-06 a bad name", format({}, "a b"), "invalid_value", `${path}.name`],
    ["FMT-06 a name of 65 characters", format({}, "a".repeat(65)), "invalid_value", `${path}.name`],
    ["a schema that is a text", format("{}"), "invalid_type", `${path}.schema`],
    ["FMT-10 FMT-11 a schema that is none", format({ type: "banana" }), "invalid_schema", `${path}.schema`],
    ["FMT-10 a reference to nothing", format({ $ref: "#/$defs/a" }), "invalid_schema", `${path}.schema`],
    ["FMT-10 required that is a text", format({ required: "a" }), "invalid_schema", `${path}.schema`],
  ] as const)("%s", async (_title, members, code, param) => {
    await assertRefused(server(), members, { code, param });
  });

  test.each([
    ["pattern", { pattern: "(a)\\1" }],
    ["uniqueItems", { type: "array", items: { type: "string" }, uniqueItems: true }],
    ["$dynamicRef", { $dynamicRef: "#a" }],
  ])(
    "FMT-09 FMT-11 FMT-13 the keyword %s is refused by its name where no grammar can hold it",
    async (keyword, inner) => {
      const schema = { type: "object", properties: { inner } };
      const want = { code: "invalid_schema", param: `${path}.schema` };
      const message = await assertRefused(server(), format(schema), want);
      expect(message).toContain(`"${keyword}"`);
      expect(message).toContain(`(at properties.inner.${keyword})`);
    },
  );

  test("FMT-16 a word that is not a keyword is refused with x-strict-params", async () => {
    const body = format({ type: "object", properties: { a: { type: "string", maxLenght: 3 } } });
    const strict = { headers: { "x-strict-params": "true" } };
    const { code, param } = await server().refuse(body, strict);
    expect({ code, param }).toEqual({ code: "unknown_parameter", param: `${path}.schema.properties.a.maxLenght` });
  });
});

describe("the bounds of x-limits on a schema", () => {
  const { schemaSubschemas, schemaCharacters, schemaGrammarRules } = contract["x-limits"];
  const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, {}]));
  const formatOf = (schema: object) => ({
    response_format: { type: "json_schema", json_schema: { name: "a", schema } },
  });
  const refused = { code: "invalid_schema", param: "response_format.json_schema.schema" };

  test.each<[string, object]>([
    ["subschemas", { type: "object", properties: members(schemaSubschemas.value) }],
    ["characters", { const: "a".repeat(schemaCharacters.value) }],
  ])("too many %s are refused", async (_title, schema) => {
    await assertRefused(server(), formatOf(schema), refused);
  });

  test("as many literals as the contract allows are taken", async () => {
    const schema = { enum: ["a".repeat(schemaCharacters.value - 100)] };
    expect((await server().chat({ ...formatOf(schema), max_tokens: 1 })).status).toBe(200);
  });

  /** It takes a rule for itself, for each pair of lists, for each pair of their items, and for each item of its own. */
  function needsRules(count: number): object {
    const length = 98;
    let made = 0;
    const items = (of: number) => Array.from({ length: of }, () => ({ type: "null", maxItems: (made += 1) }));
    const numbers = Array.from({ length: 10 }, (_, number) => number);
    const lists = numbers.flatMap((number) => [`a${number}`, `b${number}`]);
    const pairs = numbers.flatMap((a) =>
      numbers.map((b) => ({
        type: "array",
        minItems: length,
        maxItems: length,
        allOf: [{ $ref: `#/$defs/a${a}` }, { $ref: `#/$defs/b${b}` }],
      })),
    );
    return {
      $defs: Object.fromEntries(lists.map((name) => [name, { prefixItems: items(length) }])),
      type: "array",
      prefixItems: [...pairs, ...items(count - 1 - pairs.length * (1 + length))],
      items: false,
    };
  }

  test("as many grammar rules as the contract allows are taken, and one more is refused", async () => {
    const most = needsRules(schemaGrammarRules.value);
    expect((await server().chat({ ...formatOf(most), max_tokens: 1 })).status).toBe(200);
    const { message } = await server().refuse(formatOf(needsRules(schemaGrammarRules.value + 1)));
    expect(message).toContain(`more than ${schemaGrammarRules.value} grammar rules`);
  });
});
