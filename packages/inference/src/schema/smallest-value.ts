import { compileGrammar } from "./compile-grammar.ts";
import type { Conjunction, Schema } from "./schema-node.ts";
import type { GrammarNode } from "./grammar-node.ts";
import { SchemaTooComplex, ComplexityBudget } from "./complexity-budget.ts";

/** Optional members are written on the first three levels only. */
const optionalLevels = 3;
const mostValues = 10_000;
const mostLevels = 200;

/**
 * A small JSON value that satisfies all of the schemas.
 * @param root the document that `$ref` points into
 * @throws {SchemaTooComplex} {UnsatisfiableSchema}
 */
export function smallestValue(conjunction: Conjunction, root: Schema): unknown {
  const { finite } = compileGrammar(conjunction, root, new ComplexityBudget());
  let values = 0;
  const valueOf = (rule: number, level: number): unknown => {
    values += 1;
    if (values > mostValues || level > mostLevels) throw new SchemaTooComplex("the smallest value is too large");
    // Every node of a compiled grammar refers only to rules with a finite value.
    return valueOfNode(finite[rule] as GrammarNode, level, valueOf);
  };
  return valueOf(0, 0);
}

function valueOfNode(node: GrammarNode, level: number, valueOf: (rule: number, level: number) => unknown): unknown {
  if (node.kind === "literal") return node.value;
  if (node.kind === "any") return null;
  if (node.kind === "array") return [];
  if (node.kind === "scalar") return { string: "text", number: 1.5, integer: 1, boolean: true, null: null }[node.type];
  const written = node.members.filter((member) => member.isRequired || level < optionalLevels);
  return Object.fromEntries(written.map(({ name, rule }) => [name, valueOf(rule, level + 1)]));
}
