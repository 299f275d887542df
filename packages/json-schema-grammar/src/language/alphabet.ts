import { charSet, contains, everything, lastCodePoint } from "./char-set.ts";
import type { CharSet, Range } from "./char-set.ts";

/**
 * All code points, divided into classes. An automaton treats all members of a class alike. An automaton then has one column per
 * class, however many code points `\p{L}` has. Each interval begins at its start and ends before the next one.
 */
export interface Alphabet {
  readonly starts: readonly number[];
  /** The class of each interval, or `noClass` for surrogates. */
  readonly classes: readonly number[];
  /** The number of classes; they are numbered from 0 in the order of their first code points. */
  readonly size: number;
}

export const noClass = -1;

/** Returns the smallest alphabet in which every set is a union of classes. */
export function alphabetOf(sets: readonly CharSet[]): Alphabet {
  const edges = [everything, ...sets].flatMap((set) => set.flatMap(([first, last]) => [first, last + 1]));
  const starts = [...new Set([0, ...edges])].filter((start) => start <= lastCodePoint).toSorted((a, b) => a - b);
  let classes: number[] = membership(everything, starts).map((isIn) => (isIn ? 0 : noClass));
  for (const set of sets) {
    const isIn = membership(set, starts);
    classes = renumber(classes.map((old, index) => (old === noClass ? noClass : 2 * old + (isIn[index] ? 1 : 0))));
  }
  return join(starts, classes);
}

/** Returns an alphabet with one class for each of the characters, and one for all others. */
export function alphabetOfCharacters(codePoints: Iterable<number>): Alphabet {
  const own = new Set(codePoints);
  const edges = [0, ...everything.map(([, last]) => last + 1), ...everything.map(([first]) => first)];
  const starts = [...new Set([...edges, ...Array.from(own, (codePoint) => [codePoint, codePoint + 1]).flat()])]
    .filter((start) => start <= lastCodePoint)
    .toSorted((a, b) => a - b);
  const classes = starts.map((start) => (own.has(start) ? start + 1 : contains(everything, start) ? 0 : noClass));
  return join(starts, classes);
}

/** Returns for each interval if the set contains it. The set has no edge inside an interval. */
function membership(set: CharSet, starts: readonly number[]): boolean[] {
  let index = 0;
  return starts.map((start) => {
    while ((set[index]?.[1] ?? Infinity) < start) index++;
    return (set[index]?.[0] ?? Infinity) <= start;
  });
}

/** Numbers the classes in the order in which they appear. */
function renumber(classes: readonly number[]): number[] {
  const numbers = new Map([[noClass, noClass]]);
  return classes.map((old) => {
    const known = numbers.get(old) ?? numbers.size - 1;
    numbers.set(old, known);
    return known;
  });
}

/** Joins neighbouring intervals of the same class. */
export function join(starts: readonly number[], classes: readonly number[]): Alphabet {
  const numbered = renumber(classes);
  const isEdge = (index: number): boolean => index === 0 || numbered[index] !== numbered[index - 1];
  return {
    starts: starts.filter((_, index) => isEdge(index)),
    classes: numbered.filter((_, index) => isEdge(index)),
    size: 1 + numbered.reduce((most, number) => Math.max(most, number), noClass),
  };
}

export function classOf(alphabet: Alphabet, codePoint: number): number {
  const { starts, classes } = alphabet;
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= codePoint) low = middle;
    else high = middle;
  }
  return classes[low] ?? noClass;
}

/** Returns the code points of each class. */
export function setsOf({ starts, classes, size }: Alphabet): CharSet[] {
  const sets: Range[][] = Array.from({ length: size }, () => []);
  for (const [index, start] of starts.entries()) {
    sets[classes[index] ?? noClass]?.push([start, (starts[index + 1] ?? lastCodePoint + 1) - 1]);
  }
  return sets.map(charSet);
}

/** The coarsest alphabet that refines two others, and the class of each of its classes in them. */
export interface MergedAlphabet {
  readonly alphabet: Alphabet;
  readonly left: readonly number[];
  readonly right: readonly number[];
}

export function mergeAlphabets(a: Alphabet, b: Alphabet): MergedAlphabet {
  const starts: number[] = [];
  const pairs: number[] = [];
  for (let inA = 0, inB = 0; inA < a.starts.length || inB < b.starts.length;) {
    const start = Math.min(a.starts[inA] ?? Infinity, b.starts[inB] ?? Infinity);
    if (a.starts[inA] === start) inA++;
    if (b.starts[inB] === start) inB++;
    const own = a.classes[inA - 1] ?? noClass;
    starts.push(start);
    pairs.push(own === noClass ? noClass : own * b.size + (b.classes[inB - 1] ?? noClass));
  }
  const distinct = [...new Set(pairs)].filter((pair) => pair !== noClass);
  return {
    alphabet: join(starts, pairs),
    left: distinct.map((pair) => Math.floor(pair / b.size)),
    right: distinct.map((pair) => pair % b.size),
  };
}
