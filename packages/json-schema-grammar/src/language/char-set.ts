/**
 * A set of Unicode code points: inclusive ranges, sorted, with a gap between each two. No set contains surrogates, because
 * no JSON text may hold half a character.
 */
export type CharSet = readonly Range[];
export type Range = readonly [first: number, last: number];

export const lastCodePoint = 0x10ffff;
const firstSurrogate = 0xd800;
const lastSurrogate = 0xdfff;

export const everything: CharSet = [
  [0, firstSurrogate - 1],
  [lastSurrogate + 1, lastCodePoint],
];

/** Returns the union of ranges in any order, without surrogates. */
export function charSet(ranges: readonly Range[]): CharSet {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = merged.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged.flatMap(withoutSurrogates);
}

function withoutSurrogates([first, last]: Range): Range[] {
  if (last < firstSurrogate || first > lastSurrogate) return [[first, last]];
  const around: Range[] = [
    [first, firstSurrogate - 1],
    [lastSurrogate + 1, last],
  ];
  return around.filter(([from, to]) => from <= to);
}

export function invert(set: CharSet): CharSet {
  const gaps: Range[] = [];
  let next = 0;
  for (const [first, last] of set) {
    if (next < first) gaps.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= lastCodePoint) gaps.push([next, lastCodePoint]);
  return charSet(gaps);
}

export function intersectSets(a: CharSet, b: CharSet): CharSet {
  const both: Range[] = [];
  let index = 0;
  for (const [first, last] of a) {
    while ((b[index]?.[1] ?? Infinity) < first) index++;
    for (let other = index; (b[other]?.[0] ?? Infinity) <= last; other++) {
      const [from, to] = b[other] ?? [first, last];
      both.push([Math.max(first, from), Math.min(last, to)]);
    }
  }
  return both;
}

export const subtractSet = (a: CharSet, b: CharSet): CharSet => intersectSets(a, invert(b));

export const contains = (set: CharSet, codePoint: number): boolean =>
  set.some(([first, last]) => first <= codePoint && codePoint <= last);

/** The number of code points. */
export const sizeOf = (set: CharSet): number => set.reduce((sum, [first, last]) => sum + last - first + 1, 0);

/** Returns a readable member of the set: a letter or a digit if there is one. */
export function exampleOf(set: CharSet): string {
  const readable = ["a", "A", "0"].find((text) => contains(set, text.codePointAt(0) ?? 0));
  const printable = set.find(([, last]) => last >= 0x20);
  return readable ?? String.fromCodePoint(Math.max(printable?.[0] ?? set[0]?.[0] ?? 0, printable ? 0x20 : 0));
}
