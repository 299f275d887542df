import { writeRuleBook } from "./rule-book.ts";
import type { Conjunction, Schema } from "./schema-node.ts";
import type { Shape } from "./shape.ts";
import { SchemaTooComplex, ComplexityBudget } from "./complexity-budget.ts";

/** Optional members are shown on so many levels. */
const shownLevels = 3;
const mostParts = 10_000;
const mostLevels = 200;

/**
 * A small JSON value that satisfies the schemas.
 * @param root what `$ref` looks into
 * @throws {SchemaTooComplex} {UnsatisfiableSchema}
 */
export function smallestValue(conjunction: Conjunction, root: Schema): unknown {
  const { ends } = writeRuleBook(conjunction, root, new ComplexityBudget());
  let parts = 0;
  const valueOf = (rule: number, level: number): unknown => {
    parts += 1;
    if (parts > mostParts || level > mostLevels) throw new SchemaTooComplex("the smallest value is too large");
    // Every shape in a rule book leads to rules that have an end.
    return valueOfShape(ends[rule] as Shape, level, valueOf);
  };
  return valueOf(0, 0);
}

function valueOfShape(shape: Shape, level: number, valueOf: (rule: number, level: number) => unknown): unknown {
  if (shape.kind === "literal") return shape.value;
  if (shape.kind === "any") return null;
  if (shape.kind === "array") return [];
  if (shape.kind === "scalar")
    return { string: "text", number: 1.5, integer: 1, boolean: true, null: null }[shape.type];
  const shown = shape.members.filter((member) => member.isRequired || level < shownLevels);
  return Object.fromEntries(shown.map(({ name, rule }) => [name, valueOf(rule, level + 1)]));
}
