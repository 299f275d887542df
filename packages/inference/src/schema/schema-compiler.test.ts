import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { schemaCompilations } from "./request-schemas.ts";
import type { RequestSchemas, WantedSchema } from "./request-schemas.ts";
import { SchemaCompiler } from "./schema-compiler.ts";

const compiler = new SchemaCompiler();
afterAll(() => compiler[Symbol.asyncDispose]());

const never = new AbortController().signal;
let compiled: unknown[] = [];
const note = (schema: unknown): void => void compiled.push(schema);
beforeEach(() => {
  compiled = [];
  schemaCompilations.subscribe(note);
});
afterEach(() => {
  schemaCompilations.unsubscribe(note);
});

const answer = (schema: WantedSchema["schema"]): WantedSchema => ({ schema, use: "answer", isBinding: true });
const small = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });
/** Takes more steps than are spent at once. */
const large = (name: string) => ({
  type: "object",
  properties: Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `${name}${index}`,
      { type: "string", pattern: "^[a-z]+-[0-9]+$", maxLength: index + 3 },
    ]),
  ),
});

test("a small schema and a large one are compiled, each once, and rules are the same as without the compiler", async () => {
  const wanted = [answer(small("a")), answer(large("a"))];
  const schemas = await compiler.compile(wanted, "key", never);
  expect(compiled).toHaveLength(2);
  for (const { schema } of wanted) expect(schemas.answer(schema)).toHaveProperty("rules");
  expect(compiled).toHaveLength(2);
});

const empty = (name: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, {}]));

test.each([
  ["many steps", large("b"), "rules"],
  ["more subschemas than are enforced", { properties: empty("p", 32_000) }, "fault"],
  ["many definitions that nothing refers to", { $defs: empty("d", 32_000), type: "string" }, "rules"],
  ["many words that are no keywords", { ...empty("w", 32_000), type: "string" }, "rules"],
])("a schema with %s does not hold up the event loop", async (_what, schema, outcome) => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  try {
    const schemas = await compiler.compile([answer(schema)], "key", never);
    expect(schemas.answer(schema)).toHaveProperty(outcome);
  } finally {
    clearInterval(timer);
  }
  expect(turns).toBeGreaterThan(3);
});

test("of many words that are no keywords as many are kept as a header can show", async () => {
  const schema = { ...empty("w", 32_000), type: "string" };
  const schemas = await compiler.compile([answer(schema)], "words", never);
  expect(schemas.ignoredIn(schema)).toHaveLength(64);
});

describe("the tools of a request share a budget", () => {
  /** Takes about 70,000 of the 300,000 steps that the strict tools of a request may take together. */
  const costly = (name: string) => ({
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [
        name + index,
        { type: "string", pattern: `^(a|b)*a(a|b){5}${index}$` },
      ]),
    ),
  });
  const strict = (name: string): WantedSchema => ({ schema: costly(name), use: "strict", isBinding: true });
  const parametersOf = (schemas: RequestSchemas, { schema }: WantedSchema) =>
    schemas.parameters(schema, { isStrict: true, isForced: false });

  test("what the others left too little for is refused with a reason of its own, and is compiled when it comes again", async () => {
    const tools = ["a", "b", "c", "d", "e"].map(strict);
    const last = tools[4] ?? strict("e");
    const together = await compiler.compile(tools, "shared", never);
    expect(parametersOf(together, last)).toMatchObject({ fault: { reason: expect.stringContaining("together") } });
    compiled = [];
    const again = await compiler.compile(tools, "shared", never);
    for (const tool of tools) expect(parametersOf(again, tool)).toHaveProperty("rules");
    expect(compiled).toEqual([last.schema]);
  });

  test("what is too much alone is known to be", async () => {
    const schema = { type: "string", pattern: "^(a|b)*a(a|b){20}$" };
    const tool: WantedSchema = { schema, use: "strict", isBinding: true };
    for (const requests of [1, 2]) {
      const schemas = await compiler.compile([tool], "alone", never);
      expect(parametersOf(schemas, tool), `request ${requests}`).toHaveProperty("fault");
    }
    expect(compiled).toHaveLength(1);
  });
});

describe("what has been compiled", () => {
  test("is not compiled again for the same owner, and is for another", async () => {
    await compiler.compile([answer(small("c"))], "one", never);
    await compiler.compile([answer(small("c"))], "one", never);
    expect(compiled).toHaveLength(1);
    await compiler.compile([answer(small("c"))], "other", never);
    expect(compiled).toHaveLength(2);
  });

  test("of an owner with many schemas pushes out nothing of another owner", async () => {
    await compiler.compile([answer(small("kept"))], "quiet", never);
    for (let index = 0; index < 2500; index += 1) await compiler.compile([answer(small(`n${index}`))], "busy", never);
    compiled = [];
    await compiler.compile([answer(small("kept"))], "quiet", never);
    expect(compiled).toEqual([]);
    await compiler.compile([answer(small("n0"))], "busy", never);
    expect(compiled).toEqual([small("n0")]);
  });

  test("as parameters is not taken for an answer", async () => {
    const schema = small("d");
    const schemas = await compiler.compile([answer(schema), { schema, use: "lenient", isBinding: true }], "key", never);
    expect(compiled).toHaveLength(2);
    expect(schemas.answer(schema)).not.toEqual(schemas.parameters(schema, { isStrict: false, isForced: true }));
  });
});

test("whether parameters are JSON Schema is known without reading them again", async () => {
  const schema = { type: "object", properties: { a: { minLength: -1 } } };
  const wanted: WantedSchema = { schema, use: "lenient", isBinding: false };
  for (const requests of [1, 2]) {
    const schemas = await compiler.compile([wanted], "malformed", never);
    expect(schemas.parameters(schema, { isStrict: false, isForced: false }), `request ${requests}`).toMatchObject({
      isMalformed: true,
    });
  }
  expect(compiled).toHaveLength(1);
});

test("a caller that leaves stops the work", async () => {
  const hangUp = new AbortController();
  const compiling = compiler.compile([answer(large("e"))], "key", hangUp.signal);
  hangUp.abort(new Error("gone"));
  await expect(compiling).rejects.toThrow("gone");
  expect((await compiler.compile([answer(large("f"))], "key", never)).answer(large("f"))).toBeDefined();
});

test("a schema of more than a million characters is refused unread", async () => {
  const schema = { enum: Array.from({ length: 200_000 }, (_, index) => index) };
  const schemas = await compiler.compile([answer(schema)], "key", never);
  expect(schemas.answer(schema)).toMatchObject({ fault: { reason: expect.stringContaining("longer than 1000000") } });
  expect(compiled).toEqual([]);
});
