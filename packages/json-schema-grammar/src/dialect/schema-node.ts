import type { JsonNumber } from "../json/exact-number.ts";
import type { JsonType } from "./raw-schema.ts";

/**
 * A schema in the spelling of draft 2020-12, with its references resolved: a recursive schema is a graph with a circle.
 * Every keyword in it is one that JSON Schema knows, with a valid value.
 */
export interface SchemaNode {
  /** The path of the schema, such as `properties.a`. Empty for the root. */
  readonly path: string;
  /** Undefined for the schema `false`, which nothing satisfies. */
  keywords: Keywords | undefined;
}

export interface Keywords {
  type?: readonly JsonType[];
  /** The values of `enum` and of `const`, as one list for each keyword. */
  literals?: readonly (readonly unknown[])[];

  minimum?: JsonNumber;
  maximum?: JsonNumber;
  exclusiveMinimum?: JsonNumber;
  exclusiveMaximum?: JsonNumber;
  multipleOf?: JsonNumber;

  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;

  properties?: ReadonlyMap<string, SchemaNode>;
  patternProperties?: ReadonlyMap<string, SchemaNode>;
  additionalProperties?: SchemaNode;
  propertyNames?: SchemaNode;
  required?: readonly string[];
  minProperties?: number;
  maxProperties?: number;
  dependentRequired?: ReadonlyMap<string, readonly string[]>;
  dependentSchemas?: ReadonlyMap<string, SchemaNode>;

  prefixItems?: readonly SchemaNode[];
  items?: SchemaNode;
  contains?: SchemaNode;
  minContains?: number;
  maxContains?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;

  $ref?: SchemaNode;
  allOf?: readonly SchemaNode[];
  anyOf?: readonly SchemaNode[];
  oneOf?: readonly SchemaNode[];
  not?: SchemaNode;
  if?: SchemaNode;
  then?: SchemaNode;
  else?: SchemaNode;
}

/** A word in a schema that has no effect on which values are valid. `path` is that of the word itself. */
export interface SchemaWord {
  readonly path: string;
  readonly word: string;
}
