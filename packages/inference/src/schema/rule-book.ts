import { LiteralValidator } from "./literal-validator.ts";
import { Alternatives } from "./alternatives.ts";
import type { Flat } from "./alternatives.ts";
import { SchemaIds } from "./schema-ids.ts";
import { canonical } from "./schema-node.ts";
import type { Conjunction, Schema } from "./schema-node.ts";
import { shapesOf } from "./shape.ts";
import type { Member, Shape } from "./shape.ts";
import { SchemaTooComplex } from "./complexity-budget.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

/** The schema is well-formed and enforceable keyword by keyword, yet no finite JSON value satisfies it. */
export class UnsatisfiableSchema extends Error {}

/** A schema as numbered rules; every shape in it can be written to an end. */
export interface RuleBook {
  /** By number, the alternatives of a value; none for a rule that nothing satisfies, which no shape refers to. Rule 0 is the whole. */
  readonly rules: readonly (readonly Shape[])[];
  /** By number, the alternative that leads to an end without coming back to the rule. */
  readonly ends: readonly (Shape | undefined)[];
}

/** @throws {SchemaTooComplex} {UnsatisfiableSchema} */
export function writeRuleBook(conjunction: Conjunction, root: Schema, budget: ComplexityBudget): RuleBook {
  const numbering = new Numbering(root, budget);
  numbering.ruleOf(conjunction);
  const all = numbering.expand();
  const ends = findEnds(all, budget);
  if (ends[0] === undefined) throw new UnsatisfiableSchema("no finite JSON value satisfies this schema");
  const isPossible = (rule: number): boolean => ends[rule] !== undefined;
  const keep = (shape: Shape): Shape[] => (neededBy(shape).every(isPossible) ? [prune(shape, isPossible)] : []);
  const rules = all.map((shapes) => shapes.flatMap(keep));
  return {
    rules: rules.map((shapes) => tellApart(shapes, rules)),
    ends: ends.map((end) => end && prune(end, isPossible)),
  };
}

const mostRules = 10_000;

/** Numbers every distinct conjunction that can be reached. */
class Numbering {
  readonly #budget: ComplexityBudget;
  readonly #alternatives: Alternatives;
  readonly #judge: LiteralValidator;
  readonly #schemaIds = new SchemaIds();
  readonly #ids = new Map<string, number>();
  readonly #flats: (readonly Flat[])[] = [];

  constructor(root: Schema, budget: ComplexityBudget) {
    this.#budget = budget;
    this.#alternatives = new Alternatives(root, budget);
    this.#judge = new LiteralValidator(root, budget);
  }

  ruleOf(conjunction: Conjunction): number {
    const flats = this.#alternatives.of(conjunction);
    // In brackets: one way without a condition is not the same as no way at all.
    const key = [...new Set(flats.map((flat) => `(${this.#keyOf(flat)})`))].join("");
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    if (this.#flats.length === mostRules)
      throw new SchemaTooComplex(`the schema needs more than ${mostRules} grammar rules`);
    this.#ids.set(key, this.#flats.length);
    return this.#flats.push(flats) - 1;
  }

  #keyOf(flat: Flat): string {
    this.#budget.spend(1 + flat.size);
    return [...new Set(Array.from(flat, (schema) => this.#schemaIds.idOf(schema)))].toSorted((a, b) => a - b).join();
  }

  /** The shapes of every rule, those included that come up on the way. */
  expand(): Shape[][] {
    const rules: Shape[][] = [];
    // The list grows while it is walked: what is inside a shape has rules of its own.
    for (const flats of this.#flats) {
      const shapes = flats.flatMap((flat) => shapesOf(flat, (inner) => this.ruleOf(inner), this.#judge));
      this.#budget.spend(
        shapes.reduce((sum, shape) => sum + (shape.kind === "object" ? 1 + shape.members.length : 1), 0),
      );
      rules.push(distinct(shapes, this.#budget));
    }
    return rules;
  }
}

function distinct(shapes: readonly Shape[], budget: ComplexityBudget): Shape[] {
  const byText = new Map<string, Shape>();
  for (const shape of shapes) {
    const text = canonical(shape);
    budget.spend(text.length >> 6);
    byText.set(text, shape);
  }
  return [...byText.values()];
}

/** The rules that a shape cannot do without. */
function neededBy(shape: Shape): number[] {
  if (shape.kind !== "object") return []; // an array may be empty
  return shape.members.filter((member) => member.isRequired).map((member) => member.rule);
}

/**
 * The rules that some finite value satisfies: the least fixed point over their alternatives. Inner rules have higher
 * numbers as a rule, so going backwards settles most of them at the first pass, and going forwards the others.
 */
function findEnds(rules: readonly (readonly Shape[])[], budget: ComplexityBudget): (Shape | undefined)[] {
  const ends: (Shape | undefined)[] = rules.map(() => undefined);
  const inOrder = rules.map((shapes, rule) => ({
    rule,
    ways: shapes.map((shape) => ({ shape, needed: neededBy(shape) })),
  }));
  let order = inOrder.toReversed();
  for (let grew = true; grew; order = order.toReversed()) {
    grew = false;
    for (const { rule, ways } of order) {
      if (ends[rule] !== undefined) continue;
      budget.spend(ways.reduce((sum, { needed }) => sum + needed.length, 1));
      ends[rule] = ways.find(({ needed }) => needed.every((inner) => ends[inner] !== undefined))?.shape;
      grew ||= ends[rule] !== undefined;
    }
  }
  return ends;
}

/** A shape without what can never be written in it. */
function prune(shape: Shape, isPossible: (rule: number) => boolean): Shape {
  if (shape.kind === "array") return isPossible(shape.item) ? shape : { kind: "literal", value: [] };
  if (shape.kind !== "object") return shape;
  if (shape.rest !== undefined) return isPossible(shape.rest) ? shape : { kind: "literal", value: {} };
  return { ...shape, members: shape.members.filter((member) => isPossible(member.rule)) };
}

/** Where a value may be one of several objects, the members that tell them apart are written first. */
function tellApart(shapes: readonly Shape[], rules: readonly (readonly Shape[])[]): readonly Shape[] {
  if (shapes.filter((shape) => shape.kind === "object").length < 2) return shapes;
  const tells = ({ rule, isRequired }: Member): boolean =>
    isRequired && (rules[rule] ?? []).every((shape) => shape.kind === "literal");
  return shapes.map((shape) => {
    if (shape.kind !== "object") return shape;
    return { ...shape, members: [...shape.members.filter(tells), ...shape.members.filter((member) => !tells(member))] };
  });
}
