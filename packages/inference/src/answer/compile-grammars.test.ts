import { describe, expect, test } from "vitest";
import type { FunctionTool, EngineRequest } from "../engine.ts";
import { compileWanted } from "../schemas/compile-wanted.ts";
import { RequestSchemas, schemaCompilations } from "../schemas/request-schemas.ts";
import { compileGrammars } from "./compile-grammars.ts";

type Constrained = Pick<EngineRequest, "format" | "tools" | "toolChoice">;

const plain: Constrained = { format: { type: "text" }, tools: [], toolChoice: "auto" };
const tool = (name: string, parameters: FunctionTool["parameters"], isStrict = false): FunctionTool => ({
  name,
  description: undefined,
  parameters,
  isStrict,
});
const compile = (members: Partial<Constrained>) =>
  compileGrammars({ ...plain, ...members }, new RequestSchemas(compileWanted));
const enforceable = { type: "object", properties: { a: { type: "string" } } };
const unenforceable = { properties: { a: { type: "array", uniqueItems: true } } };

describe("a schema that must be enforced and cannot be is rejected", () => {
  test.each<[string, Partial<Constrained>]>([
    ["a keyword that is not enforced", { format: { type: "json_schema", schema: { pattern: "(?<!b)a" } } }],
    ["a schema that nothing satisfies", { format: { type: "json_schema", schema: false } }],
    [
      "a forced call whose arguments cannot be an object",
      { tools: [tool("f", { type: "string" })], toolChoice: { oneOf: ["f"] } },
    ],
    ["a strict function", { tools: [tool("f", unenforceable, true)] }],
  ])("%s", (_title, members) => {
    expect(() => compile(members)).toThrow(expect.objectContaining({ kind: "rejected" }));
  });
});

describe("the functions whose arguments are held to their parameters", () => {
  const tools = [tool("a", enforceable), tool("b", unenforceable), tool("c", undefined)];

  test.each<[string, Constrained["toolChoice"], string[]]>([
    ["those that can be, where the model chooses", "auto", ["a", "c"]],
    ["of those that are forced", { oneOf: ["a"] }, ["a"]],
    ["none where there are no calls", "none", []],
  ])("%s", (_title, toolChoice, names) => {
    expect(compile({ tools, toolChoice }).enforcedTools).toEqual(names);
  });

  test("get the same rules, whatever was compiled before them", () => {
    const schemas = new RequestSchemas(compileWanted);
    const other = { type: "object", properties: { b: { type: "integer" } } };
    const tools = [tool("b", other), tool("a", enforceable), tool("again", { ...enforceable })];
    const { toolGrammar } = compileGrammars({ ...plain, tools }, schemas);
    const starts = [...(toolGrammar ?? "").matchAll(/"(\w+)\\", \\"arguments\\": " (tool-\w+-0)/g)];
    expect(starts.map(([, name]) => name)).toEqual(["b", "a", "again"]);
    const [b, a, again] = starts.map(([, , rule]) => rule);
    expect(b).not.toBe(a);
    expect(again).toBe(a);
    expect(toolGrammar?.match(/^tool-\w+-0 ::=/gm)).toHaveLength(2);
  });
});

test("all functions are bounded together, and one that is strict has a budget that the others cannot spend", () => {
  const names = Array.from({ length: 2000 }, (_, index) => [`n${index}`, { type: "string" }] as const);
  const large = () => ({
    type: "object",
    properties: { inner: { anyOf: [{ properties: Object.fromEntries(names) }] } },
  });
  const many = Array.from({ length: 31 }, (_, index) => tool(`f${index}`, large()));
  const { enforcedTools } = compile({ tools: [...many, tool("strict", enforceable, true)] });
  expect(enforcedTools).toContain("strict");
  expect(enforcedTools.length).toBeLessThan(32);
});

test("a schema that was compiled to validate the request is not compiled again", () => {
  const compiled: unknown[] = [];
  const note = (schema: unknown) => void compiled.push(schema);
  schemaCompilations.subscribe(note);
  try {
    const schemas = new RequestSchemas(compileWanted);
    const answer = { type: "object" };
    schemas.answer(answer);
    schemas.parameters(enforceable, { isStrict: true, isForced: false });
    compileGrammars(
      { format: { type: "json_schema", schema: answer }, tools: [tool("a", enforceable, true)], toolChoice: "auto" },
      schemas,
    );
    expect(compiled).toEqual([answer, enforceable]);
  } finally {
    schemaCompilations.unsubscribe(note);
  }
});
