/** Why a schema cannot be enforced. `path` is relative to the schema, such as `properties.a.pattern`; empty for the root. */
export interface SchemaFault {
  readonly path: string;
  readonly keyword: string | null;
  readonly reason: string;
}

/** A keyword that cannot be enforced where it stands. The message may be shown to the caller. */
export class UnenforceableKeywordError extends Error {
  override name = "UnenforceableKeywordError";
  readonly fault: SchemaFault;

  constructor(fault: SchemaFault) {
    super(fault.reason);
    this.fault = fault;
  }
}

/** A keyword with a value that JSON Schema does not allow, or a reference to nothing. */
export class MalformedSchemaError extends UnenforceableKeywordError {
  override name = "MalformedSchemaError";
}

/** Every keyword of the schema can be enforced, but no finite JSON value satisfies all of them. */
export class UnsatisfiableSchemaError extends Error {
  override name = "UnsatisfiableSchemaError";
}

/** A set of JSON values that no finite grammar describes. The message says why and may be shown to the caller. */
export class NotRegularError extends Error {
  override name = "NotRegularError";
}
