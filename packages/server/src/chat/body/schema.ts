import { isRecord } from "@parley/common/is-record";
import contract from "@parley/contract/contract.json" with { type: "json" };
import type { ErrorCode } from "../../errors/catalog.ts";

/** The keywords that the contract's request schemas use, including its extensions. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly discriminator?: { readonly propertyName: string; readonly mapping?: Readonly<Record<string, string>> };
  readonly "x-error-code"?: ErrorCode;
  readonly "x-ignored"?: boolean;
  readonly "x-json-schema"?: object;
  readonly "x-model-limit"?: string;
  readonly "x-exact-bounds"?: { readonly minimum: string; readonly maximum: string };
  readonly "x-unsupported-values"?: readonly string[];
}

const schemas = contract.components.schemas as unknown as Readonly<Record<string, Schema>>; // the lint step allows only these keywords

/** Resolved schemas, by reference. */
const resolved = new Map<string, Schema>();

/** Follows the references of a schema, until it is not a reference. */
export function resolve(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const known = resolved.get(schema.$ref);
  if (known) return known;
  const target = schemas[schema.$ref.replace("#/components/schemas/", "")];
  if (!target) throw new Error(`the contract refers to ${schema.$ref}, which is not there`);
  const found = resolve(target);
  resolved.set(schema.$ref, found);
  return found;
}

/** The schema of a chat request. */
export const requestSchema = resolve({ $ref: "#/components/schemas/ChatCompletionRequest" });

/** Returns the JSON types of a value. A number without a fraction is an `integer` and a `number`. */
export function typesOf(value: unknown): readonly string[] {
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["array"];
  // A number beyond the largest double is parsed as infinity. It counts as an integer, so its bound is reported and not its
  // type.
  if (typeof value === "number")
    return Number.isInteger(value) || !Number.isFinite(value) ? ["integer", "number"] : ["number"];
  return [typeof value];
}

export function allowsType(schema: Schema, value: unknown): boolean {
  if (schema.type === undefined)
    return schema.oneOf === undefined || schema.oneOf.some((branch) => allowsType(resolve(branch), value));
  const allowed = typeof schema.type === "string" ? [schema.type] : schema.type;
  return typesOf(value).some((type) => allowed.includes(type));
}

/** Returns the branch of a union for a value: by its tag if the union has one, otherwise by its JSON type. */
export function branchFor(schema: Schema, value: unknown): Schema | undefined {
  const branches = (schema.oneOf ?? []).map(resolve);
  if (!schema.discriminator) return branches.find((branch) => allowsType(branch, value));
  const tag = tagOf(schema, value);
  const { propertyName } = schema.discriminator;
  return branches.find((branch) => tagsOf(branch, propertyName).includes(tag));
}

/** Returns the values of the tag that select this branch of a union. */
export const tagsOf = (branch: Schema, name: string): readonly unknown[] => branch.properties?.[name]?.enum ?? [];

/** Returns the value of a union's tag; undefined if it is absent. */
export function tagOf(schema: Schema, value: unknown): unknown {
  const name = schema.discriminator?.propertyName ?? "";
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
