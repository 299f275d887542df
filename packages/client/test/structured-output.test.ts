import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { startTestServer } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { InvalidOutputError, jsonFormat } from "../src/index.ts";
import type { Parley, StandardSchema } from "../src/index.ts";
import { connect, errorOf, hello } from "./ask.ts";
import { playing } from "./scenarios.ts";

/** Real schema libraries against the real server. Its scripted engine writes a value that fits the schema. */

let server: TestServer;
let parley: Parley;
beforeAll(async () => {
  server = await startTestServer({
    scenarios: { truncated: [{ role: true }, { text: '{"risk":' }, { finish: "length" }] },
  });
  parley = connect(server.baseUrl, { maxRetries: 0 });
});
afterAll(() => server[Symbol.asyncDispose]());

interface Assessment {
  risk: "low" | "high";
  reasons: string[];
}
const libraries: readonly (readonly [name: string, schema: StandardSchema<Assessment>])[] = [
  ["zod", z.strictObject({ risk: z.enum(["low", "high"]), reasons: z.array(z.string()) })],
  [
    "valibot",
    toStandardJsonSchema(v.strictObject({ risk: v.picklist(["low", "high"]), reasons: v.array(v.string()) })),
  ],
  ["arktype", type({ risk: "'low'|'high'", reasons: "string[]", "+": "reject" })],
];

describe("parse()", () => {
  test.each(libraries)("returns the output of a schema of %s", async (_name, schema) => {
    const response_format = jsonFormat({ name: "assessment", schema });
    const completion = await parley.parse({ ...hello, response_format });
    const [choice] = completion.choices;
    expect(completion.parsed).toEqual(JSON.parse(choice?.message.content ?? ""));
    expect(["low", "high"]).toContain(completion.parsed.risk);
    expect(completion.usage.total_tokens).toBeGreaterThan(0);
  });

  test("has the type of the schema's output", async () => {
    const schema = z.object({ at: z.string().transform((text) => text.length) });
    const response_format = jsonFormat({ name: "time", schema });
    const { data, requestId } = await parley.parse({ ...hello, response_format }).withResponse();
    expectTypeOf(data.parsed).toEqualTypeOf<{ at: number }>();
    expect(data.parsed.at).toBeTypeOf("number");
    expect(requestId).toMatch(/^req_/);
    const bare = jsonFormat({ name: "list", schema: type("string[]") });
    expectTypeOf(await bare.parse('["a"]')).toEqualTypeOf<string[]>();
  });

  test("returns an integer that a number would change as a bigint, and sends one in a schema", async () => {
    const wei = 1_000_000_000_000_000_001n;
    const schema = z.object({ wei: z.bigint() });
    const jsonSchema = { type: "object", properties: { wei: { const: wei } }, required: ["wei"] };
    const response_format = jsonFormat({ name: "balance", schema, jsonSchema });
    expect((await parley.parse({ ...hello, response_format })).parsed).toEqual({ wei });
    const streamed = parley.stream({ ...hello, response_format });
    expect(await response_format.parse(await streamed.finalText())).toEqual({ wei });
  });

  test("refuses such an integer where the schema wants a number, instead of changing it", async () => {
    const schema = z.object({ wei: z.number() });
    await expect(jsonFormat({ name: "balance", schema }).parse('{"wei":9007199254740993}')).rejects.toThrow(
      /wei: .*expected number, received bigint/,
    );
  });

  test("throws when the answer ended before its JSON did", async () => {
    const response_format = jsonFormat({ name: "assessment", schema: z.object({ risk: z.string() }) });
    const error = await errorOf(parley.parse({ ...playing("truncated"), response_format }));
    expect(error).toBeInstanceOf(InvalidOutputError);
    expect(error).toMatchObject({
      name: "IncompleteAnswerError",
      code: "invalid_output",
      message: 'The answer ended with "length", in its text.',
      text: '{"risk":',
      requestId: expect.stringMatching(/^req_/),
      issues: [],
    });
  });

  test("throws the faults that JSON Schema cannot express", async () => {
    const schema = z.object({ risk: z.enum(["low", "high"]).refine(() => false, "was guessed") });
    const error = await errorOf(
      parley.parse({ ...hello, response_format: jsonFormat({ name: "assessment", schema }) }),
    );
    expect(error).toMatchObject({
      name: "InvalidOutputError",
      message: "risk: was guessed",
      issues: [{ path: ["risk"], message: "was guessed" }],
      requestId: expect.stringMatching(/^req_/),
    });
  });
});

describe("jsonFormat()", () => {
  const bare = v.object({ risk: v.picklist(["low", "high"]) });

  test("takes `jsonSchema` for a library that generates none", async () => {
    const jsonSchema = { type: "object", properties: { risk: { enum: ["low", "high"] } }, required: ["risk"] };
    const response_format = jsonFormat({ name: "assessment", schema: bare, jsonSchema });
    expect(response_format.json_schema.schema).toBe(jsonSchema);
    const { parsed } = await parley.parse({ ...hello, response_format });
    expectTypeOf(parsed).toEqualTypeOf<{ risk: "low" | "high" }>();
    expect(["low", "high"]).toContain(parsed.risk);
  });

  test("throws at once without one", () => {
    const message = 'The library of the schema "assessment" offers no JSON Schema: give it as jsonSchema.';
    expect(() => jsonFormat({ name: "assessment", schema: bare })).toThrow(new TypeError(message));
  });

  test("reads the text of a stream, too, and names the paths of nested faults", async () => {
    const format = jsonFormat({ name: "assessment", schema: v.object({ a: v.array(bare) }), jsonSchema: {} });
    expect(await format.parse('{"a":[{"risk":"low"}]}')).toEqual({ a: [{ risk: "low" }] });
    expect(await errorOf(format.parse('{"a":[{"risk":"some"}]}'))).toHaveProperty(
      "message",
      expect.stringMatching(/^a: 0: risk: Invalid type/),
    );
    expect(await errorOf(format.parse('{"a":['))).toMatchObject({ code: "invalid_output", text: '{"a":[' });
    const schema = z.strictObject({ risk: z.enum(["low", "high"]) });
    const streamed = jsonFormat({ name: "assessment", schema });
    const text = await parley.stream({ ...hello, response_format: streamed }).finalText();
    expect(["low", "high"]).toContain((await streamed.parse(text)).risk);
  });
});
