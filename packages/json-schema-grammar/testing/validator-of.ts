import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import AjvDraft04 from "ajv-draft-04";
import addFormats from "ajv-formats";
import type { SchemaObject } from "../src/dialect/raw-schema.ts";

/** Doubles are not exact: without this option ajv says that 0.57 is not a multiple of 0.01. */
const multipleOfPrecision = 9;

const options = {
  strict: false,
  validateSchema: false,
  ownProperties: true,
  logger: false,
  multipleOfPrecision,
} as const;

/** Returns a validator of ajv for the draft that the schema names. It asserts formats. */
export function validatorOf(schema: SchemaObject): (value: unknown) => boolean {
  const { $schema } = schema;
  const draft = typeof $schema === "string" ? $schema : "";
  const ajv = draft.includes("draft-04")
    ? new AjvDraft04.default(options)
    : draft.includes("draft-07")
      ? new Ajv(options)
      : new Ajv2020(options);
  addFormats.default(ajv);
  return ajv.compile(separateContains(schema));
}

/**
 * Moves `contains` into a schema of its own if its schema also has `prefixItems`, or `items` with a list. Both keywords of ajv 8
 * write to one variable, so an empty array would always pass `contains`.
 */
const separateContains = (schema: SchemaObject): SchemaObject =>
  JSON.parse(JSON.stringify(schema), (_name, value: SchemaObject) => {
    const { contains, minContains, maxContains, ...rest } = Object(value) as SchemaObject; // a number has no members
    if (contains === undefined || !Array.isArray(rest["prefixItems"] ?? rest["items"])) return value;
    const { allOf } = rest;
    return { ...rest, allOf: [...(Array.isArray(allOf) ? allOf : []), { contains, minContains, maxContains }] };
  }) as SchemaObject;
