import { setsOf } from "./alphabet.ts";
import { exampleOf, sizeOf } from "./char-set.ts";
import type { CharSet } from "./char-set.ts";
import { accepting, dead, step } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";
import { longestRest, shortestRest } from "./limit-length.ts";

/** Returns a shortest text of a language that is not empty. */
export function shortestText(dfa: Dfa): string {
  const rest = shortestRest(dfa);
  const examples = setsOf(dfa.alphabet).map(exampleOf);
  let text = "";
  let state = 0;
  while (!accepting(dfa, state)) {
    const isCloser = (class_: number): boolean => (rest[step(dfa, state, class_)] ?? Infinity) < (rest[state] ?? 0);
    const class_ = examples.findIndex((_, index) => isCloser(index));
    text += examples[class_] ?? "";
    state = step(dfa, state, class_);
  }
  return text;
}

/** Returns the number of texts. Infinite if there is no longest text, or if there are more than can be counted exactly. */
export function countTexts(dfa: Dfa): number {
  const longest = longestRest(dfa);
  if (longest[0] === Infinity) return Infinity;
  const sizes = setsOf(dfa.alphabet).map(sizeOf);
  const counts = Array.from(dfa.accepting, () => 0);
  // The rest of the text gets shorter with every step, so the counts of all next states are known.
  const order = Array.from(counts.keys()).toSorted((a, b) => (longest[a] ?? 0) - (longest[b] ?? 0));
  for (const state of order) {
    counts[state] = sizes.reduce(
      (sum, size, class_) => sum + size * (counts[step(dfa, state, class_)] ?? 0),
      accepting(dfa, state) ? 1 : 0,
    );
  }
  return (counts[0] ?? 0) <= Number.MAX_SAFE_INTEGER ? (counts[0] ?? 0) : Infinity;
}

/** Yields all texts of a finite language. */
export const listTexts = (dfa: Dfa): Iterable<string> => textsFrom(dfa, setsOf(dfa.alphabet), 0, "");

function* textsFrom(dfa: Dfa, sets: readonly CharSet[], state: number, prefix: string): Iterable<string> {
  if (accepting(dfa, state)) yield prefix;
  for (const [class_, set] of sets.entries()) {
    const next = step(dfa, state, class_);
    if (next === dead) continue;
    for (const [first, last] of set) {
      for (let codePoint = first; codePoint <= last; codePoint++)
        yield* textsFrom(dfa, sets, next, prefix + String.fromCodePoint(codePoint));
    }
  }
}
