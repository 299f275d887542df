import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { objectsIn } from "./document.ts";
import type { Document, JsonObject } from "./document.ts";

export type Judge = (value: unknown) => string[];

const words = [
  "x-error-code",
  "x-unsupported-values",
  "x-ignored",
  "x-digits-only",
  "x-exact-bounds",
  "x-model-limit",
  "x-json-schema",
  "x-may-grow",
  "x-dependencies",
  "x-unsupported-members",
];

/**
 * Compiles schemas of the contract. A misspelled keyword is an error. Ajv's own discriminator is used, as in the server, so a
 * fault in a message is reported for the schema of its role; it ignores `mapping`. `closed` refuses members that a schema does
 * not name, which the contract itself allows.
 */
export function compile(document: Document, closed = false): (schema: JsonObject) => Judge {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, discriminator: true });
  formats.default(ajv);
  ajv.addFormat("int64", true);
  ajv.addVocabulary(words);
  const prepare = (schema: JsonObject) => (closed ? close(forAjv(schema)) : forAjv(schema));
  for (const [name, schema] of Object.entries(document.components.schemas))
    ajv.addSchema({ ...prepare(schema), $id: address + name });
  return (schema) => {
    const validate = ajv.compile(prepare(schema));
    return (value) => {
      if (validate(value)) return [];
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    };
  };
}

const address = "contract:/";

function forAjv(schema: JsonObject): JsonObject {
  const copy: JsonObject = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', `"${address}`));
  for (const { discriminator } of objectsIn(copy))
    if (typeof discriminator === "object" && discriminator !== null) Reflect.deleteProperty(discriminator, "mapping");
  return copy;
}

function close(schema: JsonObject): JsonObject {
  for (const one of objectsIn(schema))
    if (one["properties"] && one["additionalProperties"] === undefined) one["additionalProperties"] = false;
  return schema;
}
