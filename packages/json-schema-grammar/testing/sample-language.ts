import * as fc from "fast-check";
import { ComplexityBudget } from "../src/complexity-budget.ts";
import { setsOf } from "../src/language/alphabet.ts";
import { accepting, dead, step } from "../src/language/dfa.ts";
import { dfaOf } from "../src/language/form.ts";
import type { Language } from "../src/language/language.ts";
import { shortestRest } from "../src/language/limit-length.ts";

/** Draws texts of a non-empty language: some random steps, then the shortest way to an accepting state. */
export function textsOf(language: Language): fc.Arbitrary<string> {
  const dfa = dfaOf(language.form, new ComplexityBudget(1e9));
  const rest = shortestRest(dfa);
  const sets = setsOf(dfa.alphabet);
  return fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 60 }).map((choices) => {
    let text = "";
    let state = 0;
    for (let index = 0; index < choices.length || !accepting(dfa, state); index++) {
      const [way, place] = choices[index] ?? [0, 0];
      const classes = [...sets.keys()].filter((class_) => step(dfa, state, class_) !== dead);
      const nearer = classes.filter((class_) => (rest[step(dfa, state, class_)] ?? 0) < (rest[state] ?? 0));
      const open = index < choices.length ? classes : nearer;
      const class_ = open[way % open.length];
      if (class_ === undefined) break;
      const [first, last] = sets[class_]?.[place % (sets[class_]?.length ?? 1)] ?? [0, 0];
      text += String.fromCodePoint(first + (place % (last - first + 1)));
      state = step(dfa, state, class_);
    }
    return text;
  });
}
