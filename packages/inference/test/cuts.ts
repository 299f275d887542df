import * as fc from "fast-check";

/** The same list in consecutive parts, cut at the given positions. */
export function cutAt<T>(items: readonly T[], places: readonly number[]): (readonly T[])[] {
  const bounds = [0, ...places.toSorted((a, b) => a - b), items.length];
  return bounds.slice(1).map((end, index) => items.slice(bounds[index], end));
}

/** Every way to cut a list in two, including empty parts. */
export const everyCut = <T>(items: readonly T[]): (readonly T[])[][] =>
  Array.from({ length: items.length + 1 }, (_, place) => cutAt(items, [place]));

/** A list in parts of all lengths. */
export const anyCuts = <T>(items: readonly T[]): fc.Arbitrary<(readonly T[])[]> =>
  fc.array(fc.nat(items.length), { maxLength: 12 }).map((places) => cutAt(items, places));

const encoder = new TextEncoder();
export const bytesOf = (text: string): number[] => [...encoder.encode(text)];
