import { isRecord } from "@parley/common/is-record";
import { Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import type { Document, Json, JsonObject } from "@parley/contract/document";

/** Recognises keywords that do not decide validity, or that the server checks itself, such as the format of a seed. */
const isAnnotation = (keyword: string): boolean =>
  ["description", "examples", "format"].includes(keyword) || keyword.startsWith("x-");

/**
 * Generates the code of a function that checks a value against the schema of a chat request. The server compiles no schema at
 * its start.
 */
export function chatRequestValidator(document: Document): string {
  const ajv = new Ajv2020({
    strictTypes: false,
    strictRequired: false,
    discriminator: true,
    messages: false,
    code: { source: true, esm: true },
  });
  for (const [name, schema] of Object.entries(document.components.schemas))
    ajv.addSchema(judging(schema), `#/components/schemas/${name}`);
  const validate = ajv.getSchema("#/components/schemas/ChatCompletionRequest");
  if (!validate) throw new Error("the contract has no ChatCompletionRequest");
  return asModule(standalone.default(ajv, validate));
}

/** Replaces `require`, which Ajv writes even into modules. Its only use is a small file without imports that counts characters. */
function asModule(code: string): string {
  const [head, name] = /^"use strict";\n?export const validate = (\w+);\n?export default \1;\n?/.exec(code) ?? [];
  if (head === undefined) throw new Error("Ajv's standalone code begins in another way than expected");
  return `import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
export const isChatRequest: (value: unknown) => boolean = ${name};
${code.slice(head.length)}
`;
}

/** Keeps only the keywords of a schema that decide validity. */
function judging(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([keyword]) => !isAnnotation(keyword));
  return Object.fromEntries(kept.flatMap(([keyword, value]) => Object.entries(judgingPart(keyword, value))));
}

/** Returns a keyword with its value, simplified for Ajv where necessary. */
function judgingPart(keyword: string, value: Json): JsonObject {
  if (keyword === "oneOf" && Array.isArray(value))
    return { oneOf: value.filter((branch) => isRecord(branch)).map(judging) };
  if (!isRecord(value)) return { [keyword]: value };
  // Ajv does not support `mapping`. It selects the branch by the values of the tag.
  if (keyword === "discriminator") return { discriminator: { propertyName: value["propertyName"] ?? null } };
  if (keyword !== "properties") return { [keyword]: judging(value) };
  const fields = Object.entries(value).map(([name, field]) => [name, isRecord(field) ? judging(field) : field]);
  return { properties: Object.fromEntries(fields) };
}
