import { SchemaTooComplexError } from "../complexity-budget.ts";
import type { ComplexityBudget } from "../complexity-budget.ts";
import type { Automaton, Edge, State } from "./automaton.ts";
import { FreeNames } from "./free-names.ts";

/** A position in the reading of an array or object. Equal positions have equal keys. */
export interface Position {
  readonly key: string;
  readonly isEnd: boolean;
  /** The possible next items or members. */
  readonly steps: () => Step[];
  /** Returns a position with the later steps of this position. If it exists, `steps` returns only the first step. */
  readonly others?: (() => Position) | undefined;
}

export interface Step {
  readonly name: string | FreeNames | undefined;
  readonly rule: number;
  readonly to: Position;
}

export const maxStates = 5000;

/**
 * Builds the automaton that follows all positions at once. Positions after the same name and the same rule share a state, so
 * alternatives with the same beginning are read once.
 */
export function buildAutomaton(starts: readonly Position[], budget: ComplexityBudget): Automaton {
  const numbers = new Map<string, number>();
  const open: Position[][] = [];
  const numberOf = (positions: readonly Position[]): number => {
    const distinct = [...new Map(positions.map((position) => [position.key, position])).values()];
    const key = distinct
      .map((position) => position.key)
      .toSorted()
      .join("|");
    const known = numbers.get(key);
    if (known !== undefined) return known;
    if (numbers.size === maxStates) throw tooManyStates();
    numbers.set(key, numbers.size);
    return open.push(distinct) - 1;
  };
  numberOf(starts);
  const states: State[] = [];
  // The list grows during the loop.
  for (const positions of open) {
    states.push(stateOf(positions, numberOf, budget));
  }
  return { states };
}

export const tooManyStates = (): SchemaTooComplexError =>
  new SchemaTooComplexError(`an array or object of the schema needs more than ${maxStates} states`);

function stateOf(
  positions: readonly Position[],
  numberOf: (positions: readonly Position[]) => number,
  budget: ComplexityBudget,
): State {
  const isEnd = positions.some((position) => position.isEnd);
  const [only] = positions;
  const steps = positions.length === 1 && only ? only.steps() : positions.flatMap(allSteps);
  budget.spend(1 + steps.length);
  const others = positions.length === 1 ? only?.others?.() : undefined;
  const grouped = Map.groupBy(steps, labelOf);
  const edges = Array.from(grouped.values(), (alike): Edge => {
    // A group has at least one step.
    const [{ name, rule }] = alike as [Step];
    return { name, rule, to: numberOf(alike.map((step) => step.to)) };
  });
  return { edges, others: others && numberOf([others]), isEnd };
}

function allSteps(position: Position): Step[] {
  const steps: Step[] = [];
  for (let at: Position | undefined = position; at; at = at.others?.()) steps.push(...at.steps());
  return steps;
}

function labelOf({ name, rule }: Step): string {
  if (name === undefined) return String(rule);
  return name instanceof FreeNames ? `${rule} ~${name.key}` : `${rule} =${name}`;
}
