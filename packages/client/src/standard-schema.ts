/**
 * What zod, valibot, arktype and others agree on (https://standardschema.dev): a value can be validated, and where the
 * library offers it, the schema can be written as JSON Schema. The interface is copied, as its authors propose, so that
 * this package needs none of them.
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

/** One thing that a value lacks. */
export interface SchemaIssue {
  readonly message: string;
  /** Where in the value it is: keys, or objects with a key. Absent or empty: the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema as an object. */
export type JsonSchema = Record<string, unknown>;

/** The schema of what the model writes, which a library may turn into something else afterwards. @throws {TypeError} */
export function toJsonSchema(name: string, schema: StandardSchema, given: JsonSchema | undefined): JsonSchema {
  const written = given ?? schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  if (written) return written;
  throw new TypeError(`The library of the schema "${name}" offers no JSON Schema: give it as jsonSchema.`);
}
