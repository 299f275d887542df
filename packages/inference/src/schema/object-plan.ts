import type { RuleBook } from "./rule-book.ts";
import { kindOf, kinds } from "./shape.ts";
import type { Member, Shape } from "./shape.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

/** What decides how long one alternative of an object looks like another. */
export interface ObjectPlan {
  /** How its first member may begin; undefined where any name may come. */
  readonly beginnings: readonly Beginning[] | undefined;
  /** Names that may come first. */
  readonly firstNames: number;
  /** The most names that may come at one place: an optional member may be left out. */
  readonly longestRun: number;
  /** The rules of what is inside. */
  readonly inner: readonly number[];
}

/** A member's name and the kind of its value, or one literal; `wider` is the former where `text` is the latter. */
export interface Beginning {
  readonly text: string;
  readonly wider: string | undefined;
}

export function planObject(
  { members, rest }: Extract<Shape, { kind: "object" }>,
  rules: RuleBook["rules"],
  budget: ComplexityBudget,
): ObjectPlan {
  if (rest !== undefined) return { beginnings: undefined, firstNames: 1, longestRun: 1, inner: [rest] };
  const firstRequired = members.findIndex((member) => member.isRequired);
  const first = firstRequired < 0 ? members : members.slice(0, firstRequired + 1);
  return {
    beginnings: first.flatMap((member) => beginningsOf(member, rules, budget)),
    firstNames: first.length,
    longestRun: longestRunIn(members),
    inner: [...new Set(members.map((member) => member.rule))],
  };
}

function beginningsOf({ name, rule }: Member, rules: RuleBook["rules"], budget: ComplexityBudget): Beginning[] {
  const shapes = rules[rule] ?? [];
  budget.spend(shapes.length);
  const begin = (kind: string): string => `${JSON.stringify(name)}: ${kind}`;
  return shapes.flatMap((shape): Beginning[] => {
    if (shape.kind === "any") return kinds.map((kind) => ({ text: begin(kind), wider: undefined }));
    if (shape.kind === "scalar")
      return [{ text: begin(shape.type === "integer" ? "number" : shape.type), wider: undefined }];
    if (shape.kind !== "literal") return [{ text: begin(shape.kind), wider: undefined }];
    const wider = begin(kindOf(shape.value));
    return [{ text: `${wider} ${JSON.stringify(shape.value)}`, wider }];
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
