import { RequestSchemas } from "@parley/inference";
import { annotationKeywords, enforcedKeywords } from "@parley/json-schema-grammar/keywords";
import { compileWanted } from "@parley/inference/compile-wanted";
import { expect, test } from "vitest";
import contract from "@parley/contract/contract.json" with { type: "json" };

const { properties } = contract.components.schemas.JsonSchemaFormat;
const { enforced, identifiers, refused, annotations, ...lists } = properties.schema["x-json-schema"];
const inPart = Object.keys(lists["enforced-in-part"]);

test("the contract lists every keyword that the compiler knows, once", () => {
  expect([...enforced, ...inPart].toSorted()).toEqual(enforcedKeywords.toSorted());
  expect([...annotations, ...identifiers].toSorted()).toEqual(annotationKeywords.toSorted());
});

/** A value for each keyword that is enforced with all of its values. */
const values: Readonly<Record<string, unknown>> = {
  type: "object",
  enum: ["a", { b: [1] }],
  const: null,
  minimum: -1.5,
  maximum: 7,
  exclusiveMinimum: -2,
  exclusiveMaximum: 8,
  minLength: 1,
  maxLength: 500,
  properties: { a: {} },
  required: ["a"],
  additionalProperties: { type: "string" },
  maxProperties: 3,
  items: { type: "integer" },
  prefixItems: [{ type: "string" }],
  additionalItems: false,
  minItems: 1,
  maxItems: 4,
  anyOf: [{ type: "string" }, { type: "null" }],
  allOf: [{ maximum: 3 }, { minimum: 1 }],
  $ref: "#/$defs/a",
};

test.each(enforced)("%s is enforced", (keyword) => {
  const schema = { [keyword]: values[keyword], $defs: { a: { type: "boolean" } } };
  expect(values).toHaveProperty([keyword]);
  expect(new RequestSchemas(compileWanted).answer(schema)).toMatchObject({ annotations: [], unenforced: [] });
});

test.each([...annotations, ...identifiers])("%s is accepted, and not reported as ignored", (keyword) => {
  const value = keyword.endsWith("efs") || keyword === "definitions" ? {} : "a";
  expect(new RequestSchemas(compileWanted).answer({ [keyword]: value })).toMatchObject({ annotations: [] });
});

test.each(refused)("%s is refused", (keyword) => {
  expect(new RequestSchemas(compileWanted).answer({ [keyword]: "#a" })).toMatchObject({ fault: { keyword } });
});
