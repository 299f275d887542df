import * as fc from "fast-check";

/** The keywords that the drawing of values reads. */
interface Schema {
  readonly description?: string;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
}

type Json = fc.JsonValue;

/** Stands for a number with exactly these digits, where `JSON.stringify` would write others. */
const written = (digits: string): string => `number:${digits}`;

const toText = (value: unknown): string => JSON.stringify(value).replaceAll(/"number:([^"]*)"/g, "$1");

const schemas: readonly Json[] = [
  { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
  { type: "object" },
  {},
  { type: "array", items: { type: "integer" } },
  { type: "object", properties: { a: { pattern: "^a$" } } },
  { type: "no such type" },
  { $ref: "#" },
  { type: ["object", "null"], oneOf: [{}] },
];

/** Values for members for which a value drawn from the schema would nearly always, or never, break a rule across members. */
const chosen: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  seed: fc.constantFrom(
    ...["7", "-0", "7.0", "1e3", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e400"].map(
      written,
    ),
  ),
  n: fc.constantFrom(1, 8, written("2.0"), written("20e-1")),
  "tools[].function.name": fc.constantFrom("f", "g", "h"),
  "tool_choice.function.name": fc.constantFrom("f", "g", "h"),
  "tools[].function.parameters": fc.constantFrom(null, ...schemas),
  "response_format.json_schema.schema": fc.constantFrom(...schemas),
};

/** Draws values of the contract's schemas. */
class Drawing {
  readonly #schemas: Readonly<Record<string, Schema>>;

  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.#schemas = schemas;
  }

  valueOf(unresolved: Schema, path: string): fc.Arbitrary<unknown> {
    const schema = this.#resolve(unresolved);
    const own = chosen[path];
    if (own) return own;
    if (schema.oneOf) return fc.oneof(...schema.oneOf.map((branch) => this.valueOf(branch, path)));
    if (schema.enum) return fc.constantFrom(...schema.enum);
    const types = [schema.type ?? []].flat();
    return types.length === 0
      ? fc.jsonValue({ maxDepth: 2 })
      : fc.oneof(...types.map((type) => this.#typed(type, schema, path)));
  }

  #resolve(schema: Schema): Schema {
    if (schema.$ref === undefined) return schema;
    return this.#resolve(this.#schemas[schema.$ref.replace("#/components/schemas/", "")] ?? {});
  }

  #typed(type: string, schema: Schema, path: string): fc.Arbitrary<unknown> {
    if (type === "null") return fc.constant(null);
    if (type === "boolean") return fc.boolean();
    if (type === "string") return text(schema);
    if (type === "array") return this.#list(schema, path);
    return type === "object" ? this.#object(schema, path) : number(type, schema);
  }

  #list({ items = {}, minItems = 0 }: Schema, path: string): fc.Arbitrary<unknown> {
    return fc.array(this.valueOf(items, `${path}[]`), { minLength: minItems, maxLength: minItems + 3 });
  }

  #object({ properties, required = [], additionalProperties, propertyNames }: Schema, path: string) {
    const below = (name: string): string => (path === "" ? name : `${path}.${name}`);
    const free = typeof additionalProperties === "object" ? additionalProperties : undefined;
    if (!properties || free)
      return fc.dictionary(text(propertyNames ?? {}), this.valueOf(free ?? {}, below("*")), { maxKeys: 3 });
    const optional = Object.keys(properties).filter((name) => !required.includes(name));
    const draw = (name: string) => [name, this.valueOf(properties[name] ?? {}, below(name))] as const;
    return fc
      .subarray(optional, { maxLength: Math.min(6, optional.length) })
      .chain((given) => fc.record(Object.fromEntries([...required, ...given].map(draw))));
  }
}

function text({ minLength = 0, maxLength = 1_000_000, pattern }: Schema): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, "u"));
  return fc.string({ unit: "grapheme", minLength, maxLength: Math.min(maxLength, minLength + 4) });
}

function number(type: string, schema: Schema): fc.Arbitrary<unknown> {
  const { minimum = -5, maximum = 5, exclusiveMinimum } = schema;
  const least = exclusiveMinimum ?? minimum;
  if (type === "integer") return fc.integer({ min: Math.max(least, -(2 ** 31)), max: Math.min(maximum, 2 ** 31 - 1) });
  return fc.double({ min: least, max: maximum, minExcluded: exclusiveMinimum !== undefined, noNaN: true });
}

const faulty: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, "", "a", 0, -1, 1.5, 1e21, [], {}, [null], [{}], ["text"], undefined),
  fc.constantFrom(written("1e400"), written("-1e400"), written("2.0"), "x".repeat(600), "auto", "required", "user"),
  fc.constantFrom({ type: "function" }, { type: "json_object" }, { type: "image_url" }, { role: "assistant" }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Returns a function for each member and item of a body that replaces its value, and one for a new member of each object. */
function placesIn(value: unknown): { readonly put: (value: unknown) => void }[] {
  if (typeof value !== "object" || value === null) return [];
  // Arrays and objects are changed in the same way.
  const owner = value as Record<string, unknown>;
  const own = Object.keys(owner).flatMap((name) => [
    { put: (next: unknown) => void (owner[name] = next) },
    ...placesIn(owner[name]),
  ]);
  return Array.isArray(value) ? own : [...own, { put: (next) => void (owner["10"] = next) }];
}

function bend(body: unknown, faults: readonly (readonly [place: number, value: unknown])[]): unknown {
  for (const [place, value] of faults) {
    const places = placesIn(body);
    places[place % places.length]?.put(structuredClone(value));
  }
  return body;
}

/** Draws chat requests from the contract's schemas, as JSON text. Up to three random faults are put into each. */
export function requestBodies(schemas: Readonly<Record<string, Schema>>): fc.Arbitrary<string> {
  const drawing = new Drawing(schemas);
  return fc
    .tuple(
      drawing.valueOf({ $ref: "#/components/schemas/ChatCompletionRequest" }, ""),
      fc.array(fc.tuple(fc.nat(), faulty), { maxLength: 3 }),
    )
    .map(([body, faults]) => toText(bend(structuredClone(body), faults)));
}
