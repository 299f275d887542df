import type { ComplexityBudget } from "../complexity-budget.ts";
import { intersectSets, everything } from "./char-set.ts";
import { combine, emptyDfa } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";
import { limitLength } from "./limit-length.ts";
import { minimize } from "./minimize.ts";
import { repeatAutomaton, repeatOf } from "./repeat.ts";
import type { Repeat } from "./repeat.ts";

/**
 * How a language is held: as a repetition of one set where it is one, which costs nothing however long the texts may be;
 * otherwise as its smallest automaton. So equal languages have equal forms.
 */
export type Form = { readonly repeat: Repeat } | { readonly dfa: Dfa };

export const nothing: Form = { dfa: emptyDfa };
export const anything: Form = { repeat: { chars: everything, min: 0, max: Infinity } };

/** @param dfa any automaton */
export function formOf(dfa: Dfa, budget: ComplexityBudget): Form {
  const smallest = minimize(dfa, budget);
  const repeat = repeatOf(smallest);
  return repeat ? { repeat } : { dfa: smallest };
}

export function formOfRepeat({ chars, min, max }: Repeat): Form {
  if (min > max || (min > 0 && chars.length === 0)) return nothing;
  return { repeat: max === 0 || chars.length === 0 ? { chars: [], min: 0, max: 0 } : { chars, min, max } };
}

export const dfaOf = (form: Form, budget: ComplexityBudget): Dfa =>
  "dfa" in form ? form.dfa : repeatAutomaton(form.repeat, budget);

export function intersectForms(a: Form, b: Form, budget: ComplexityBudget): Form {
  if ("repeat" in a && "repeat" in b) {
    const chars = intersectSets(a.repeat.chars, b.repeat.chars);
    const min = Math.max(a.repeat.min, b.repeat.min);
    return formOfRepeat({ chars, min, max: Math.min(a.repeat.max, b.repeat.max) });
  }
  if ("repeat" in a) return intersectForms(b, a, budget);
  if ("dfa" in b)
    return formOf(
      combine(a.dfa, b.dfa, (inA, inB) => inA && inB, budget),
      budget,
    );
  const { chars, min, max } = b.repeat;
  const anyCount = repeatAutomaton({ chars, min: 0, max: Infinity }, budget);
  const both = minimize(
    combine(a.dfa, anyCount, (inA, inB) => inA && inB, budget),
    budget,
  );
  return formOf(limitLength(both, min, max, budget), budget);
}

export function uniteForms(a: Form, b: Form, budget: ComplexityBudget): Form {
  return formOf(
    combine(dfaOf(a, budget), dfaOf(b, budget), (inA, inB) => inA || inB, budget),
    budget,
  );
}

export function subtractForms(a: Form, b: Form, budget: ComplexityBudget): Form {
  return formOf(
    combine(dfaOf(a, budget), dfaOf(b, budget), (inA, inB) => inA && !inB, budget),
    budget,
  );
}
