import { SchemaTooComplex } from "../complexity-budget.ts";
import { UnenforceableKeyword } from "../schema-fault.ts";
import type { SchemaFault } from "../schema-fault.ts";
import type { Schema } from "./raw-schema.ts";
import { readSchema } from "./read-schema.ts";

/** Why a schema is no JSON Schema, or undefined. Whether it can be enforced is not asked. */
export function findMalformed(schema: Schema): SchemaFault | undefined {
  try {
    readSchema(schema);
    return undefined;
  } catch (error) {
    if (error instanceof UnenforceableKeyword) return error.fault;
    if (error instanceof SchemaTooComplex) return undefined;
    throw error;
  }
}
