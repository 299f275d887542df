import type { CompiledSchema } from "./compile-schema.ts";
import { RequestBudgets, compileWanted } from "./request-schemas.ts";
import type { WantedSchema } from "./request-schemas.ts";

/** Runs in a thread of `SchemaCompiler`. @param wanted those of one request, which share its budgets */
export function compileAll(wanted: readonly WantedSchema[]): CompiledSchema[] {
  const budgets = new RequestBudgets();
  return wanted.map((one) => compileWanted(one, budgets.of(one)));
}
