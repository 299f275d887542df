import * as fc from "fast-check";
import type { SchemaObject } from "../src/dialect/raw-schema.ts";

/** A schema of the enforced subset, with values that satisfy it by construction. */
export interface Sample {
  readonly schema: SchemaObject;
  readonly values: readonly unknown[];
}

/** Not `__proto__`: Ajv overlooks it. */
const oddNames = ["a", "b", "kind", "", 'say "hi"', "back\\slash", "é", "\u{1F980}", "line\nbreak", "toString"];
const name = fc.constantFrom(...oddNames);
const anyString = fc.string({ unit: "binary", maxLength: 6 });
const anyNumber = fc.oneof(fc.integer(), fc.constantFrom(0, 0.5, -1.25, 1e21, 2e-7));

const exactly = (length: number): { minLength: number; maxLength: number } => ({
  minLength: length,
  maxLength: length,
});

const sample = (schema: SchemaObject, value: fc.Arbitrary<unknown>): fc.Arbitrary<Sample> =>
  fc.array(value, exactly(3)).map((values) => ({ schema, values }));

const literals = fc.uniqueArray(fc.oneof(fc.integer({ min: -3, max: 3 }), anyString, fc.boolean(), fc.constant(null)), {
  minLength: 1,
  maxLength: 5,
});

const leaf: fc.Arbitrary<Sample> = fc.oneof(
  sample({ type: "string", description: "ignored" }, anyString),
  sample({ type: "integer" }, fc.integer()),
  sample({ type: "number" }, anyNumber),
  sample({ type: "boolean" }, fc.boolean()),
  sample({ type: "null" }, fc.constant(null)),
  sample({ type: ["string", "null"] }, fc.oneof(anyString, fc.constant(null))),
  sample({ type: ["integer", "number"] }, anyNumber),
  sample({}, fc.jsonValue({ maxDepth: 2, noUnicodeString: false }).filter(isShortNumbered)),
  literals.chain((options) => sample({ enum: options }, fc.constantFrom(...options))),
  literals.chain(([only]) => sample({ const: only }, fc.constant(only))),
);

/** Numbers that JavaScript writes as the grammar does: without an exponent. */
function isShortNumbered(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) < 1e15;
  return typeof value !== "object" || value === null || Object.values(value).every(isShortNumbered);
}

/** Schemas whose alternatives differ in type or first member. So the order of members is the declared one. */
export const samples: fc.Arbitrary<Sample> = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    leaf,
    arrayOf(tie("sample")),
    objectOf(tie("sample")),
    eitherOf(tie("sample")),
  ),
})).sample;

function arrayOf(item: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return item.map(({ schema, values }) => ({
    schema: { type: "array", items: schema },
    values: [[], values.slice(0, 1), values],
  }));
}

interface DrawnMember {
  readonly name: string;
  readonly sample: Sample;
  readonly isRequired: boolean;
}

function objectOf(inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  const member: fc.Arbitrary<DrawnMember> = fc.record({ name, sample: inner, isRequired: fc.boolean() });
  const members = fc.uniqueArray(member, { selector: (one) => one.name, maxLength: 4, minLength: 1 });
  return fc
    .tuple(members, fc.array(fc.array(fc.boolean(), exactly(4)), exactly(3)), fc.boolean())
    .map(([drawn, coins, isClosed]) => ({
      schema: {
        type: "object",
        properties: Object.fromEntries(drawn.map((one) => [one.name, one.sample.schema])),
        required: drawn.filter((one) => one.isRequired).map((one) => one.name),
        ...(isClosed && { additionalProperties: false }),
      },
      values: coins.map((isWritten, turn) => {
        const present = drawn.filter((one, place) => one.isRequired || isWritten[place]);
        return Object.fromEntries(present.map((one) => [one.name, one.sample.values[turn]]));
      }),
    }));
}

/** A list or a scalar, as an alternative to a string: their first characters differ. */
function eitherOf(inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return fc.tuple(inner, anyString).map(([{ schema, values }, text]) => ({
    schema: { anyOf: [{ type: "array", items: schema }, { type: "string" }] },
    values: [values, text, []],
  }));
}

/** Schemas of any kind, satisfiable or not, with references, and every way to combine them. */
export const wildSchemas: fc.Arbitrary<SchemaObject> = fc
  .letrec<{ schema: object | boolean }>((tie) => {
    const inner = tie("schema");
    const properties = fc.dictionary(name, inner, { maxKeys: 3 });
    const node = fc.record(
      {
        type: fc.constantFrom(
          "object",
          "array",
          "string",
          "integer",
          "number",
          ["object", "null"],
          ["array", "string"],
        ),
        properties,
        required: fc.uniqueArray(name, { maxLength: 2 }),
        additionalProperties: inner,
        items: inner,
        enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }),
        const: fc.jsonValue({ maxDepth: 1 }),
        anyOf: fc.array(inner, { minLength: 1, maxLength: 3 }),
        allOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
      },
      { requiredKeys: [] },
    );
    const ref = fc.constantFrom("#/$defs/a", "#/$defs/b", "#").map(($ref) => ({ $ref }));
    const leafNode = fc.oneof(
      fc.boolean(),
      fc.constantFrom({ type: "string" }, { type: "integer" }, { const: "x" }),
      ref,
    );
    return { schema: fc.oneof({ maxDepth: 3, depthSize: "small" }, leafNode, node) };
  })
  .schema.chain((root) =>
    fc
      .record({ a: leafObject, b: leafObject })
      .map(($defs) => ({ $defs, ...(typeof root === "object" ? root : { allOf: [root] }) })),
  );

const leafObject = fc.constantFrom(
  { type: "string" },
  { type: "object", properties: { next: { $ref: "#/$defs/a" } } },
  { type: "array", items: { $ref: "#/$defs/b" } },
  { enum: [1, "one", null] },
);

/** The same JSON with one thing changed in it. */
export const mutated = (value: unknown): fc.Arbitrary<unknown> => {
  const other = fc.jsonValue({ maxDepth: 1 });
  if (typeof value !== "object" || value === null) return other;
  if (Array.isArray(value))
    return fc.oneof(
      other,
      other.map((one) => [...value, one]),
    );
  const entries = Object.entries(value);
  return fc.oneof(
    other,
    fc.tuple(name, other).map(([added, one]) => Object.fromEntries([...entries, [added, one]])),
    fc.nat(entries.length).map((index) => Object.fromEntries(entries.toSpliced(index, 1))),
    fc
      .tuple(fc.nat(entries.length), other)
      .map(([index, one]) =>
        Object.fromEntries(entries.map(([key, item], place) => [key, place === index ? one : item])),
      ),
  );
};
