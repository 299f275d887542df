import { allowsType, isObject, resolve, typeOfJson } from "./schema.ts";
import type { Json, Schema, Schemas } from "./schema.ts";

/** A member that breaks the contract. The service would refuse it with the same code and param. */
export interface Fault {
  /** The path as `error.param` writes it, such as `messages[0].role`. */
  readonly param: string;
  readonly code: string;
  readonly message: string;
}

/** Returns the faults of a value, in the order of the schema. The service checks more, such as rules across members. */
export function validate(schemas: Schemas, outer: Schema, value: Json, param = ""): Fault[] {
  const schema = resolve(schemas, outer);
  const fault = (code: string, message: string): Fault[] => [{ param, code, message }];
  if (schema["x-error-code"] !== undefined && value !== null)
    return fault(schema["x-error-code"], "The service refuses this member.");
  if (schema.oneOf) return validateUnion(schemas, schema, value, param);
  if (!allowsType(schemas, schema, typeOfJson(value)))
    return fault("invalid_type", `It has to be ${[schema.type ?? []].flat().join(" or ")}.`);
  if (schema.enum && value !== null && !schema.enum.includes(value))
    return fault("invalid_value", `It has to be one of ${schema.enum.map((one) => JSON.stringify(one)).join(", ")}.`);
  const bound = boundOf(schema, value);
  if (bound !== undefined) return fault("invalid_value", bound);
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, at) => validate(schemas, items, item, `${param}[${at}]`)) : [];
  }
  return isObject(value) ? validateMembers(schemas, schema, value, param) : [];
}

function validateUnion(schemas: Schemas, { oneOf = [], discriminator }: Schema, value: Json, param: string): Fault[] {
  const type = typeOfJson(value);
  const fitting = oneOf.filter((one) => allowsType(schemas, one, type));
  if (fitting.length === 0) {
    const types = oneOf.flatMap((one) => [resolve(schemas, one).type ?? []].flat());
    return [{ param, code: "invalid_type", message: `It has to be ${types.join(" or ")}.` }];
  }
  if (discriminator && isObject(value)) {
    const { propertyName, mapping } = discriminator;
    const tag = value[propertyName];
    const path = memberPath(param, propertyName);
    const names = Object.keys(mapping).join(", ");
    if (tag === undefined) return [{ param: path, code: "missing_required_parameter", message: `One of ${names}.` }];
    const target = typeof tag === "string" ? mapping[tag] : undefined;
    if (target === undefined) return [{ param: path, code: "invalid_value", message: `It has to be one of ${names}.` }];
    return validate(schemas, { $ref: target }, value, param);
  }
  const outcomes = fitting.map((one) => validate(schemas, one, value, param));
  return outcomes.find((faults) => faults.length === 0) ?? outcomes[0] ?? [];
}

const memberPath = (param: string, name: string): string => (param === "" ? name : `${param}.${name}`);

function validateMembers(
  schemas: Schemas,
  { properties = {}, required = [], additionalProperties, propertyNames, maxProperties }: Schema,
  value: Readonly<Record<string, Json>>,
  param: string,
): Fault[] {
  const missing = required
    .filter((name) => value[name] === undefined)
    .map((name) => ({ param: memberPath(param, name), code: "missing_required_parameter", message: "It is missing." }));
  const known = Object.entries(properties).flatMap(([name, schema]) => {
    const inner = value[name];
    return inner === undefined ? [] : validate(schemas, schema, inner, memberPath(param, name));
  });
  const others = Object.entries(value).flatMap(([name, inner]) => {
    if (properties[name] !== undefined) return [];
    const path = memberPath(param, name);
    if (propertyNames && boundOf(propertyNames, name) !== undefined)
      return [{ param: path, code: "invalid_value", message: "A name of this form is not allowed." }];
    return typeof additionalProperties === "object" ? validate(schemas, additionalProperties, inner, path) : [];
  });
  const count = Object.keys(value).length;
  const tooMany =
    maxProperties !== undefined && count > maxProperties
      ? [{ param, code: "invalid_value", message: `It may have at most ${maxProperties} members.` }]
      : [];
  return [...missing, ...known, ...others, ...tooMany];
}

/** Returns the bound that a value breaks, as a sentence. */
function boundOf(schema: Schema, value: Json): string | undefined {
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, pattern, minItems, maxItems } = schema;
  if (typeof value === "number") {
    if (minimum !== undefined && value < minimum) return `It has to be at least ${minimum}.`;
    if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `It has to be above ${exclusiveMinimum}.`;
    if (maximum !== undefined && value > maximum) return `It has to be at most ${maximum}.`;
  } else if (typeof value === "string") {
    const length = Array.from(value).length; // in code points
    if (minLength !== undefined && length < minLength) return "It must not be empty.";
    if (maxLength !== undefined && length > maxLength) return `It may have at most ${maxLength} characters.`;
    if (pattern !== undefined && !new RegExp(pattern, "u").test(value)) return `It has to match ${pattern}.`;
  } else if (Array.isArray(value)) {
    if (minItems !== undefined && value.length < minItems) return `It needs at least ${minItems} items.`;
    if (maxItems !== undefined && value.length > maxItems) return `It may have at most ${maxItems} items.`;
  }
  return undefined;
}

/** Returns the faults of a chat request by its schema, and by the two rules across members that are broken most often. */
export function validateRequest(schemas: Schemas, schema: Schema, request: Json): Fault[] {
  const faults = validate(schemas, schema, request);
  if (!isObject(request)) return faults;
  const { stream, stream_options: options, logprobs, top_logprobs: top } = request;
  if (options !== undefined && options !== null && stream !== true)
    faults.push({ param: "stream_options", code: "invalid_value", message: "It needs `stream` to be true." });
  if (top !== undefined && top !== null && logprobs !== true)
    faults.push({ param: "top_logprobs", code: "invalid_value", message: "It needs `logprobs` to be true." });
  return faults;
}
