import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { schemaCompilations } from "./request-schemas.ts";
import type { RequestSchemas, WantedSchema } from "./request-schemas.ts";
import { CompileThread, SchemaCompiler } from "./schema-compiler.ts";

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
  ["many words that are not keywords", { ...empty("w", 32_000), type: "string" }, "rules"],
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

test("of many words that are not keywords, a header's worth is kept", async () => {
  const schema = { ...empty("w", 32_000), type: "string" };
  const schemas = await compiler.compile([answer(schema)], "words", never);
  expect(schemas.ignoredIn(schema)).toHaveLength(64);
});

describe("the tools of a request share a budget", () => {
  /** Takes about 170,000 of the 600,000 steps that the strict tools of a request may take together. */
  const costly = (name: string) => ({
    oneOf: Array.from({ length: 195 }, (_, index) => ({
      type: "object",
      properties: { kind: { const: name + index } },
      required: ["kind"],
    })),
  });
  const strict = (name: string): WantedSchema => ({ schema: costly(name), use: "strict", isBinding: true });
  const parametersOf = (schemas: RequestSchemas, { schema }: WantedSchema) =>
    schemas.parameters(schema, { isStrict: true, isForced: false });
  const tools = ["a", "b", "c", "d", "e"].map(strict);
  const outcomes = async (wanted: readonly WantedSchema[], owner: string) => {
    const schemas = await compiler.compile(wanted, owner, never);
    return wanted.map((tool) => "rules" in parametersOf(schemas, tool));
  };
  const outcome = [true, true, true, false, false];

  test("a schema for which the others leave too little is refused with its own reason", async () => {
    const schemas = await compiler.compile(tools, "reason", never);
    for (const tool of tools.slice(3))
      expect(parametersOf(schemas, tool)).toMatchObject({ fault: { reason: expect.stringContaining("together") } });
  });

  test("a request has the same outcome when it comes again, though some of its schemas are known by then", async () => {
    expect(await outcomes(tools, "again")).toEqual(outcome);
    compiled = [];
    expect(await outcomes(tools, "again")).toEqual(outcome);
    expect(compiled).toEqual(tools.slice(3).map(({ schema }) => schema));
  });

  test("and the same when all of them have been compiled, each in a request of its own", async () => {
    for (const tool of tools) expect(await outcomes([tool], "each")).toEqual([true]);
    compiled = [];
    expect(await outcomes(tools, "each")).toEqual(outcome);
    expect(compiled).toEqual([]);
  });

  test("small ones take their steps as well", async () => {
    const rest = ["f", "g", "h"].map(strict);
    const many = Array.from({ length: 90 }, (_, index): WantedSchema => {
      const members = Array.from({ length: 30 }, (__, member) => [`m${index}-${member}`, { type: "string" }]);
      const schema = { type: "object", properties: Object.fromEntries(members), additionalProperties: false };
      return { schema, use: "strict", isBinding: true };
    });
    await outcomes(many, "small");
    await outcomes(rest, "small");
    const known = await outcomes([...many, ...rest], "small");
    expect(known.slice(-2)).toEqual([true, false]);
    expect(await outcomes([...many, ...rest], "fresh")).toEqual(known);
  });

  test("a schema that is too large alone is remembered", async () => {
    const schema = { type: "string", pattern: "^(a|b)*a(a|b){20}$" };
    const tool: WantedSchema = { schema, use: "strict", isBinding: true };
    for (const requests of [1, 2]) {
      const schemas = await compiler.compile([tool], "alone", never);
      expect(parametersOf(schemas, tool), `request ${requests}`).toHaveProperty("fault");
    }
    expect(compiled).toHaveLength(1);
  });
});

describe("the thread", () => {
  /** Takes about 200 ms of CPU time. */
  const heavy = (name: string) =>
    answer({
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 100 }, (_, index) => [
          name + index,
          { type: "string", pattern: `^(a|b)*a(a|b){6}${index}$` },
        ]),
      ),
    });

  test("is stopped where a job takes too much CPU time, and the schema is known to do that", async () => {
    await using limited = new SchemaCompiler(new CompileThread({ cpuMs: 20 }));
    const wanted = heavy("a");
    for (const requests of [1, 2]) {
      const schemas = await limited.compile([wanted], "key", never);
      expect(schemas.answer(wanted.schema), `request ${requests}`).toMatchObject({
        fault: { reason: expect.stringContaining("too much time or memory") },
      });
    }
    expect(compiled).toHaveLength(1);
    // Too small for the next look at the clock.
    const next = answer(large("next"));
    expect((await limited.compile([next], "key", never)).answer(next.schema)).toBeDefined();
  });

  test("does not count the time for which a job waits", async () => {
    const cpuMs = 700;
    await using limited = new SchemaCompiler(new CompileThread({ cpuMs }));
    const start = performance.now();
    const all = Array.from({ length: 6 }, (_, index) => heavy(`n${index}`));
    const compiling = all.map(async (wanted, index) => {
      const schemas = await limited.compile([wanted], `key ${index}`, never);
      return schemas.answer(wanted.schema);
    });
    for (const outcome of await Promise.all(compiling)) expect(outcome).toHaveProperty("rules");
    expect(performance.now() - start).toBeGreaterThan(cpuMs);
  });

  test("ends if a job takes too much memory, and the next request gets a new thread", async () => {
    await using limited = new SchemaCompiler(new CompileThread({ megabytes: 24 }));
    const wanted = answer({ anyOf: Array.from({ length: 330_000 }, () => ({})) });
    const schemas = await limited.compile([wanted], "key", never);
    expect(schemas.answer(wanted.schema)).toMatchObject({
      fault: { reason: expect.stringContaining("too much time or memory") },
    });
    const next = answer(large("next"));
    expect((await limited.compile([next], "key", never)).answer(next.schema)).toHaveProperty("rules");
  });

  test("goes on with the next job when the caller of a job leaves", async () => {
    const hangUp = new AbortController();
    const left = compiler.compile([heavy("left")], "left", hangUp.signal);
    const leftInQueue = compiler.compile([heavy("queue")], "queue", hangUp.signal);
    const stays = compiler.compile([heavy("stays")], "stays", never);
    hangUp.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    await expect(leftInQueue).rejects.toThrow("gone");
    expect((await stays).answer(heavy("stays").schema)).toHaveProperty("rules");
  });
});

describe("a compiled schema", () => {
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

test("the validity of parameters is known without reading them again", async () => {
  const schema = { type: "object", properties: { a: { minLength: -1 } } };
  const wanted: WantedSchema = { schema, use: "lenient", isBinding: false };
  for (const requests of [1, 2]) {
    const schemas = await compiler.compile([wanted], "malformed", never);
    expect(schemas.parameters(schema, { isStrict: false, isForced: false }), `request ${requests}`).toMatchObject({
      kind: "malformed",
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
