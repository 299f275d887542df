import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import AjvDraft04 from "ajv-draft-04";
import addFormats from "ajv-formats";
import type { SchemaObject } from "../../src/schema/dialect/raw-schema.ts";

/** Doubles are not exact: to ajv 0.57 would be no multiple of 0.01. */
const multipleOfPrecision = 9;

const options = {
  strict: false,
  validateSchema: false,
  ownProperties: true,
  logger: false,
  multipleOfPrecision,
} as const;

/** What ajv says about values, with formats asserted, in the draft that the schema names. */
export function validatorOf(schema: SchemaObject): (value: unknown) => boolean {
  const { $schema } = schema;
  const draft = typeof $schema === "string" ? $schema : "";
  const ajv = draft.includes("draft-04")
    ? new AjvDraft04.default(options)
    : draft.includes("draft-07")
      ? new Ajv(options)
      : new Ajv2020(options);
  addFormats.default(ajv);
  return ajv.compile(schema);
}
