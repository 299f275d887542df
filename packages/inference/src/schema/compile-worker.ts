import { RequestBudgets, compileWanted } from "./request-schemas.ts";
import type { CompiledWanted, WantedSchema } from "./request-schemas.ts";

/** A schema as text, which takes less time to hand over than its objects do. */
export interface WantedText extends Omit<WantedSchema, "schema"> {
  readonly text: string;
}

/** Runs in a thread of `SchemaCompiler`. @param wanted those of one request, which share its budgets */
export function compileAll(wanted: readonly WantedText[]): CompiledWanted[] {
  const budgets = new RequestBudgets();
  return wanted.map(({ text, ...rest }) => {
    // The text was made of a schema.
    const one: WantedSchema = { ...rest, schema: JSON.parse(text) as WantedSchema["schema"] };
    return compileWanted(one, budgets.of(one));
  });
}
