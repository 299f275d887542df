import type { CompiledGrammar } from "./compile-grammar.ts";
import { kindOf, kinds } from "./grammar-node.ts";
import type { Member, GrammarNode } from "./grammar-node.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

/** The properties of an object node that decide how long it cannot be told apart from another one. */
export interface ObjectSummary {
  /** How the text of its first member may begin; undefined where any name may come first. */
  readonly prefixes: readonly Prefix[] | undefined;
  /** The number of members that may come first. */
  readonly firstNames: number;
  /** The largest number of members that may come at one position. More than 1 where optional members may be left out. */
  readonly longestRun: number;
  /** The rules of its members' values. */
  readonly inner: readonly number[];
}

/**
 * How a member begins: its name and the kind of its value, or its name and one literal. For a literal, `wider` is the
 * prefix with the literal's kind, which matches it as well.
 */
export interface Prefix {
  readonly text: string;
  readonly wider: string | undefined;
}

export function summarizeObject(
  { members, rest }: Extract<GrammarNode, { kind: "object" }>,
  rules: CompiledGrammar["rules"],
  budget: ComplexityBudget,
): ObjectSummary {
  if (rest !== undefined) return { prefixes: undefined, firstNames: 1, longestRun: 1, inner: [rest] };
  const firstRequired = members.findIndex((member) => member.isRequired);
  const first = firstRequired < 0 ? members : members.slice(0, firstRequired + 1);
  return {
    prefixes: first.flatMap((member) => prefixesOf(member, rules, budget)),
    firstNames: first.length,
    longestRun: longestRunIn(members),
    inner: [...new Set(members.map((member) => member.rule))],
  };
}

function prefixesOf({ name, rule }: Member, rules: CompiledGrammar["rules"], budget: ComplexityBudget): Prefix[] {
  const nodes = rules[rule] ?? [];
  budget.spend(nodes.length);
  const prefixOf = (kind: string): string => `${JSON.stringify(name)}: ${kind}`;
  return nodes.flatMap((node): Prefix[] => {
    if (node.kind === "any") return kinds.map((kind) => ({ text: prefixOf(kind), wider: undefined }));
    if (node.kind === "scalar")
      return [{ text: prefixOf(node.type === "integer" ? "number" : node.type), wider: undefined }];
    if (node.kind !== "literal") return [{ text: prefixOf(node.kind), wider: undefined }];
    const wider = prefixOf(kindOf(node.value));
    return [{ text: `${wider} ${JSON.stringify(node.value)}`, wider }];
  });
}

function longestRunIn(members: readonly Member[]): number {
  let longest = 1;
  let run = 1;
  for (const member of members) {
    run = member.isRequired ? 1 : run + 1;
    longest = Math.max(longest, run);
  }
  return longest;
}
