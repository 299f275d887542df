import * as fc from "fast-check";
import type { SchemaObject } from "../src/dialect/raw-schema.ts";

/** Schemas with every enforced keyword, alone and combined. No value satisfies some of them. */

const small = fc.integer({ min: 0, max: 6 });
const decimal = fc.integer({ min: -400, max: 400 }).map((hundredths) => hundredths / 100);
const name = fc.constantFrom("a", "b", "x-1", "", "é", 'say "hi"');
const optional = (
  type: string,
  keywords: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<SchemaObject> => fc.record(keywords, { requiredKeys: [] }).map((drawn) => ({ type, ...drawn }));

const strings = optional("string", {
  minLength: fc.integer({ min: 0, max: 3 }),
  maxLength: fc.integer({ min: 2, max: 9 }),
  pattern: fc.constantFrom("^[a-z]+$", "[0-9]", "^(a|bc)*$", String.raw`\d{2}`, "^.{2,4}$", "é|ß", "^[^x]*$"),
});
const formats = fc
  .constantFrom("date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid")
  .map((format) => ({ type: "string", format }));
const numbers = fc.constantFrom("number", "integer").chain((type) =>
  optional(type, {
    minimum: decimal,
    maximum: decimal,
    exclusiveMinimum: decimal,
    exclusiveMaximum: decimal,
    multipleOf: fc.constantFrom(1, 2, 5, 7, 0.5, 0.01),
  }),
);
const literals = fc.uniqueArray(fc.constantFrom("a", "b", "", 0, 1, 2.5, -3, null, true, false), {
  minLength: 1,
  maxLength: 4,
});
const leaf: fc.Arbitrary<SchemaObject> = fc.oneof(
  strings,
  formats,
  numbers,
  literals.map((options) => ({ enum: options })),
  fc.constantFrom(
    { type: "boolean" },
    { type: "null" },
    { const: "x" },
    {},
    { type: ["string", "null"], maxLength: 3 },
  ),
);

/** Put together from names, because the linter takes every object with a member `then` for a promise. */
export const condition = (...branches: readonly [SchemaObject, SchemaObject, SchemaObject]): SchemaObject =>
  Object.fromEntries(["if", "then", "else"].map((keyword, index) => [keyword, branches[index]]));

export const anySchemas: fc.Arbitrary<SchemaObject> = fc.letrec<{ schema: SchemaObject }>((tie) => {
  const inner = tie("schema");
  const arrays = optional("array", {
    prefixItems: fc.array(inner, { minLength: 1, maxLength: 2 }),
    items: inner,
    minItems: fc.integer({ min: 0, max: 2 }),
    maxItems: fc.integer({ min: 1, max: 4 }),
  });
  const objects = optional("object", {
    properties: fc.dictionary(name, inner, { maxKeys: 3 }),
    required: fc.uniqueArray(name, { maxLength: 2 }),
    additionalProperties: fc.oneof(fc.boolean(), inner),
    patternProperties: fc.dictionary(fc.constantFrom("^x", "[0-9]$", "^.$"), inner, { maxKeys: 2 }),
    propertyNames: fc.constantFrom({ maxLength: 3 }, { pattern: "^[a-x]" }),
    minProperties: fc.integer({ min: 0, max: 2 }),
    maxProperties: fc.integer({ min: 1, max: 4 }),
    dependentRequired: fc.constantFrom({ a: ["b"] }, { b: ["x-1"] }),
  });
  const some = fc.array(inner, { minLength: 1, maxLength: 3 });
  const combined = fc.oneof(
    some.map((anyOf) => ({ anyOf })),
    some.map((allOf) => ({ allOf })),
    some.map((oneOf) => ({ oneOf })),
    fc.tuple(inner, inner).map(([schema, not]) => ({ allOf: [schema, { not }] })),
    fc.tuple(inner, inner, inner).map((branches) => condition(...branches)),
    fc.tuple(arrays, small).map(([schema, count]) => ({ ...schema, contains: { const: count }, maxItems: 4 })),
  );
  return { schema: fc.oneof({ maxDepth: 3, depthSize: "small" }, leaf, arrays, objects, combined) };
}).schema;
