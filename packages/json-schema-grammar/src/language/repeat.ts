import type { ComplexityBudget } from "../complexity-budget.ts";
import { alphabetOf, setsOf } from "./alphabet.ts";
import { charSet } from "./char-set.ts";
import type { CharSet } from "./char-set.ts";
import { States, accepting, dead, explore, step } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";
import type { Expression } from "./parse-pattern.ts";

/** The texts of `min` to `max` code points of one set. `max` may be infinite. */
export interface Repeat {
  readonly chars: CharSet;
  readonly min: number;
  readonly max: number;
}

/** Builds the automaton of a repetition, with a state for each counted character. */
export function repeatAutomaton({ chars, min, max }: Repeat, budget: ComplexityBudget): Dfa {
  const alphabet = alphabetOf([chars]);
  const isIn = setsOf(alphabet).map((set) => chars.some(([first]) => first === set[0]?.[0]));
  const last = max === Infinity ? min : max;
  const states = new States<number>(budget);
  states.numberOf(0, 0);
  return explore(
    alphabet,
    states,
    (count) => {
      const after = count < last ? states.numberOf(count + 1, count + 1) : count;
      return isIn.map((belongs) => (belongs && count < max ? after : dead));
    },
    (count) => count >= min,
  );
}

/** Returns the repetition that a minimal automaton accepts, if it accepts one. */
export function repeatOf(dfa: Dfa): Repeat | undefined {
  const last = dfa.accepting.length - 1;
  const isIn = Array.from({ length: dfa.alphabet.size }, (_, class_) => step(dfa, 0, class_) !== dead);
  const min = dfa.accepting.indexOf(1);
  for (let state = 0; state <= last; state++) {
    const after = state < last ? [state + 1] : [dead, last];
    const targets = new Set(isIn.flatMap((belongs, class_) => (belongs ? [step(dfa, state, class_)] : [])));
    const isChain = targets.size <= 1 && [...targets].every((target) => after.includes(target));
    const isUniform = isIn.every((belongs, class_) => belongs || step(dfa, state, class_) === dead);
    if (!isChain || !isUniform || accepting(dfa, state) !== state >= min) return undefined;
  }
  const loops = isIn.some((belongs, class_) => belongs && step(dfa, last, class_) === last);
  const chars = charSet(setsOf(dfa.alphabet).flatMap((set, class_) => (isIn[class_] ? set : [])));
  return { chars, min, max: loops ? Infinity : last };
}

/** Returns the repetition that a pattern such as `^[a-z]{1,5000}$` means. It needs no automaton. */
export function repeatOfPattern(pattern: Expression): Repeat | undefined {
  if (pattern.kind !== "sequence" || pattern.items.length !== 3) return undefined;
  const [start, repeat, end] = pattern.items;
  if (start?.kind !== "assertion" || start.what !== "start" || end?.kind !== "assertion" || end.what !== "end")
    return undefined;
  if (repeat?.kind !== "repeat" || repeat.item.kind !== "chars") return undefined;
  return { chars: repeat.item.chars, min: repeat.min, max: repeat.max };
}
