import type { SchemaObject } from "../src/dialect/raw-schema.ts";
import { condition } from "./any-schemas.ts";

/** Schemas as zod, pydantic, OpenAPI and Kubernetes write them, small enough to read. */
const object = (properties: SchemaObject, required: readonly string[] = Object.keys(properties)): SchemaObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const draft4 = { $schema: "http://json-schema.org/draft-04/schema#" };
const draft7 = { $schema: "http://json-schema.org/draft-07/schema#" };

export const realSchemas: Readonly<Record<string, SchemaObject>> = {
  "zod: a user": object({
    id: { type: "string", format: "uuid" },
    email: { type: "string", format: "email" },
    age: { type: "integer", minimum: 0, maximum: 150 },
    name: { type: "string", minLength: 1, maxLength: 40 },
    born: { type: "string", format: "date" },
  }),
  "zod: what may be null or absent": object(
    {
      note: { anyOf: [{ type: "string", maxLength: 10 }, { type: "null" }] },
      score: { type: "number", exclusiveMinimum: 0 },
    },
    ["note"],
  ),
  "zod: a record of numbers": { type: "object", additionalProperties: { type: "number", minimum: 0 } },
  "zod: a tuple": {
    type: "array",
    prefixItems: [{ type: "string" }, { type: "integer" }],
    items: { type: "boolean" },
    minItems: 2,
    maxItems: 4,
  },
  "zod: a discriminated union": {
    oneOf: [
      object({ kind: { const: "circle" }, radius: { type: "number", exclusiveMinimum: 0 } }),
      object({ kind: { const: "square" }, side: { type: "number", exclusiveMinimum: 0 } }),
    ],
  },
  "zod: an intersection": {
    allOf: [
      { type: "object", properties: { a: { type: "integer", minimum: 1 } }, required: ["a"] },
      { type: "object", properties: { a: { type: "integer", maximum: 9 }, b: { type: "string" } }, required: ["b"] },
    ],
  },
  "pydantic: an order with definitions": {
    $defs: {
      Item: object({ sku: { type: "string", pattern: "^[A-Z]{3}-[0-9]{4}$" }, count: { type: "integer", minimum: 1 } }),
    },
    ...object({ items: { type: "array", items: { $ref: "#/$defs/Item" }, minItems: 1, maxItems: 3 } }),
  },
  "pydantic: a tree": {
    $defs: {
      Node: object({
        value: { type: "integer" },
        children: { type: "array", items: { $ref: "#/$defs/Node" }, maxItems: 2 },
      }),
    },
    $ref: "#/$defs/Node",
  },
  "pydantic: decimals as text or number": object({
    amount: { anyOf: [{ type: "number" }, { type: "string", pattern: String.raw`^-?\d{1,6}(\.\d{1,2})?$` }] },
  }),
  "pydantic: a moment and a span": object({
    at: { type: "string", format: "date-time" },
    span: { type: "string", format: "duration" },
    time: { type: "string", format: "time" },
  }),
  "pydantic: addresses": object({
    v4: { type: "string", format: "ipv4" },
    v6: { type: "string", format: "ipv6" },
    host: { type: "string", format: "hostname" },
    link: { type: "string", format: "uri" },
  }),
  "OpenAPI 3.0: a page, in draft 4": {
    ...draft4,
    ...object({
      page: { type: "integer", minimum: 0, exclusiveMinimum: true },
      size: { type: "integer", maximum: 100, minimum: 1 },
    }),
  },
  "draft 4: definitions and a tuple": {
    ...draft4,
    definitions: { positive: { type: "integer", minimum: 0, exclusiveMinimum: true } },
    type: "array",
    items: [{ $ref: "#/definitions/positive" }, { enum: ["a", "b"] }],
    additionalItems: false,
  },
  "draft 7: a condition": {
    ...draft7,
    ...object({ country: { enum: ["US", "NL"] }, zip: { type: "string", maxLength: 12 } }),
    ...condition(
      { properties: { country: { const: "US" } } },
      { properties: { zip: { pattern: "^[0-9]{5}$" } } },
      { properties: { zip: { pattern: "^[0-9]{4} [A-Z]{2}$" } } },
    ),
  },
  "draft 7: a card needs an address": {
    ...draft7,
    ...object({ name: { type: "string" }, card: { type: "integer" }, address: { type: "string" } }, ["name"]),
    dependencies: { card: ["address"] },
  },
  "a condition on presence": {
    ...object({ a: { type: "integer" }, b: { type: "integer" } }, []),
    anyOf: [{ required: ["a"] }, { required: ["b"] }],
  },
  "dependent members": {
    ...object({ a: { type: "integer" }, b: { type: "integer" } }, []),
    dependentRequired: { a: ["b"] },
  },
  "names by pattern": {
    type: "object",
    patternProperties: { "^x-": { type: "string" }, "^n[0-9]+$": { type: "integer" } },
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 3,
  },
  "names of a form": {
    type: "object",
    propertyNames: { pattern: "^[a-z]{1,5}$" },
    additionalProperties: { type: "boolean" },
  },
  "declared members and others": {
    type: "object",
    properties: { id: { type: "integer" } },
    required: ["id"],
    additionalProperties: { type: "string", maxLength: 5 },
  },
  "an appointment": object({
    id: { type: "string", format: "uuid" },
    day: { type: "string", format: "date" },
    hour: { type: "string", pattern: "^[01][0-9]:[0-5][0-9]$" },
    place: { type: "string", format: "ipv4" },
  }),
  "a price": object({
    cents: { type: "integer", multipleOf: 5, minimum: 0, maximum: 1000 },
    rate: { type: "number", multipleOf: 0.01 },
  }),
  "a temperature": { type: "number", minimum: -273.15, exclusiveMaximum: 1000.5 },
  "what is not empty": { type: "string", not: { const: "" } },
  "no reserved name": { type: "string", not: { enum: ["admin", "root"] }, pattern: "^[a-z]+$" },
  "everything but a number": { not: { type: "number" }, type: ["string", "boolean", "number"] },
  "flags, each once": { type: "array", items: { enum: ["r", "w", "x"] }, uniqueItems: true, minItems: 1 },
  "one admin at least": {
    type: "array",
    items: { enum: ["admin", "user"] },
    contains: { const: "admin" },
    maxItems: 4,
  },
  "an enumeration of several types": { enum: ["auto", 0, 1.5, null, true, { a: [1] }] },
  "a pattern that is not anchored": { type: "string", pattern: "[0-9]", maxLength: 8 },
  "a slug": { type: "string", pattern: "^[a-z0-9]+(?:-[a-z0-9]+)*$", maxLength: 30 },
  "a version": { type: "string", pattern: String.raw`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$` },
  "Kubernetes: a quantity or a number": {
    anyOf: [
      { type: "integer", minimum: 0 },
      { type: "string", pattern: "^[0-9]+(m|Ki|Mi|Gi)?$" },
    ],
  },
  "Kubernetes: a port": object(
    {
      containerPort: { type: "integer", minimum: 1, maximum: 65_535 },
      protocol: { enum: ["TCP", "UDP"] },
      name: { type: ["string", "null"] },
    },
    ["containerPort"],
  ),
  "MCP: a request": {
    ...draft7,
    definitions: { Token: { type: ["string", "integer"] } },
    type: "object",
    properties: {
      method: { const: "tools/call", type: "string" },
      params: {
        type: "object",
        properties: {
          _meta: { type: "object", properties: { progressToken: { $ref: "#/definitions/Token" } } },
          name: { type: "string" },
        },
        required: ["name"],
      },
    },
    required: ["method", "params"],
  },
  "a list of lists": {
    type: "array",
    items: { type: "array", items: { type: "number" }, minItems: 2, maxItems: 2 },
    minItems: 1,
  },
  "an expression": {
    $defs: {
      expression: {
        anyOf: [
          { type: "number" },
          object({
            operator: { enum: ["+", "*"] },
            left: { $ref: "#/$defs/expression" },
            right: { $ref: "#/$defs/expression" },
          }),
        ],
      },
    },
    $ref: "#/$defs/expression",
  },
};
