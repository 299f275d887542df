import type { ComplexityBudget } from "../complexity-budget.ts";
import { contains, intersectSets, everything } from "./char-set.ts";
import { alphabetOfCharacters, classOf } from "./alphabet.ts";
import { States, combine, dead, emptyDfa, explore, haveCommonText, runDfa } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";
import { limitLength } from "./limit-length.ts";
import { minimize } from "./minimize.ts";
import { repeatAutomaton, repeatOf } from "./repeat.ts";
import type { Repeat } from "./repeat.ts";

/**
 * The representation of a language. It is a sorted list of texts if the language was made from a list. It is a repetition if
 * all characters are of one set, because this costs nothing even for long texts. Otherwise it is the minimal automaton.
 */
export type Form = { readonly texts: readonly string[] } | { readonly repeat: Repeat } | { readonly dfa: Dfa };

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

/** A text with half a surrogate pair is left out. */
export function formOfTexts(texts: Iterable<string>, budget: ComplexityBudget): Form {
  const distinct = new Set<string>();
  for (const text of texts) {
    budget.spend(2 + (text.length >> 2));
    if (text.isWellFormed()) distinct.add(text);
  }
  return distinct.size === 0 ? nothing : { texts: [...distinct].toSorted() };
}

export function dfaOf(form: Form, budget: ComplexityBudget): Dfa {
  if ("dfa" in form) return form.dfa;
  return "texts" in form ? literalAutomaton(form.texts, budget) : repeatAutomaton(form.repeat, budget);
}

export function includesText(form: Form, text: string): boolean {
  if ("dfa" in form) return runDfa(form.dfa, text);
  if ("texts" in form) return isListed(form.texts, text);
  const { chars, min, max } = form.repeat;
  const codePoints = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  return (
    codePoints.length >= min && codePoints.length <= max && codePoints.every((codePoint) => contains(chars, codePoint))
  );
}

/** @param texts in order */
function isListed(texts: readonly string[], text: string): boolean {
  let first = 0;
  let end = texts.length;
  while (first < end) {
    const middle = (first + end) >> 1;
    if ((texts[middle] ?? "") < text) first = middle + 1;
    else end = middle;
  }
  return texts[first] === text;
}

export function intersectForms(a: Form, b: Form, budget: ComplexityBudget): Form {
  if ("texts" in a)
    return formOfTexts(
      a.texts.filter((text) => includesText(b, text)),
      budget,
    );
  if ("texts" in b) return intersectForms(b, a, budget);
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

/** Checks if both are disjoint. */
export function areDisjoint(a: Form, b: Form, budget: ComplexityBudget): boolean {
  if ("texts" in a) return !a.texts.some((text) => includesText(b, text));
  if ("texts" in b) return areDisjoint(b, a, budget);
  if ("dfa" in a && "dfa" in b) return !haveCommonText(a.dfa, b.dfa, budget);
  return isEmpty(intersectForms(a, b, budget));
}

/** Checks if a form that was made in this file is empty. The minimal automaton of no text has one state. */
export const isEmpty = (form: Form): boolean =>
  "dfa" in form && form.dfa.accepting.length === 1 && form.dfa.accepting[0] === 0;

export function uniteForms(a: Form, b: Form, budget: ComplexityBudget): Form {
  if ("texts" in a && "texts" in b) return formOfTexts([...a.texts, ...b.texts], budget);
  return formOf(
    combine(dfaOf(a, budget), dfaOf(b, budget), (inA, inB) => inA || inB, budget),
    budget,
  );
}

export function subtractForms(a: Form, b: Form, budget: ComplexityBudget): Form {
  if ("texts" in a)
    return formOfTexts(
      a.texts.filter((text) => !includesText(b, text)),
      budget,
    );
  return formOf(
    combine(dfaOf(a, budget), dfaOf(b, budget), (inA, inB) => inA && !inB, budget),
    budget,
  );
}

interface Node {
  readonly id: number;
  readonly next: Map<number, Node>;
  isEnd: boolean;
}

/** The automaton of a finite set of texts, as a prefix tree. A text with half a surrogate pair is left out. */
function literalAutomaton(texts: Iterable<string>, budget: ComplexityBudget): Dfa {
  const codePoints = Array.from(texts)
    .filter((text) => text.isWellFormed())
    .map((text) => Array.from(text, (character) => character.codePointAt(0) ?? 0));
  const alphabet = alphabetOfCharacters(codePoints.flat());
  let size = 0;
  const newNode = (): Node => ({ id: size++, next: new Map(), isEnd: false });
  const root = newNode();
  for (const text of codePoints) {
    let node = root;
    for (const codePoint of text) {
      budget.spend(1);
      const class_ = classOf(alphabet, codePoint);
      const next = node.next.get(class_) ?? newNode();
      node.next.set(class_, next);
      node = next;
    }
    node.isEnd = true;
  }
  const states = new States<Node>(budget);
  states.numberOf(root.id, root);
  const classes = Array.from({ length: alphabet.size }, (_, class_) => class_);
  const after = (next: Node | undefined): number => (next ? states.numberOf(next.id, next) : dead);
  return explore(
    alphabet,
    states,
    (node) => classes.map((class_) => after(node.next.get(class_))),
    (node) => node.isEnd,
  );
}
