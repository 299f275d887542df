/**
 * The interface that zod, valibot, arktype and others implement (https://standardschema.dev). It validates a value, and some
 * libraries can also generate the JSON Schema. The interface is copied here, as its authors propose, so this package depends
 * on none of these libraries.
 */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly validate: (value: unknown) => Validation<Output> | Promise<Validation<Output>>;
    readonly jsonSchema?: { readonly input: (options: { readonly target: "draft-2020-12" }) => JsonSchema } | undefined;
  };
}

type Validation<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One fault of a value. */
export interface SchemaIssue {
  readonly message: string;
  /** The path in the value: keys, or objects with a key. Absent or empty: the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema as an object. */
export type JsonSchema = Record<string, unknown>;

/** Returns the JSON Schema of the model's output, before the library transforms it. @throws {TypeError} when there is none */
export function toJsonSchema(name: string, schema: StandardSchema, given: JsonSchema | undefined): JsonSchema {
  const written = given ?? schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  if (written) return written;
  throw new TypeError(`The library of the schema "${name}" offers no JSON Schema: give it as jsonSchema.`);
}
