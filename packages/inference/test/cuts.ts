import * as fc from "fast-check";

/** Cuts a list at the given positions. */
export function cutAt<T>(items: readonly T[], places: readonly number[]): (readonly T[])[] {
  const bounds = [0, ...places.toSorted((a, b) => a - b), items.length];
  return bounds.slice(1).map((end, index) => items.slice(bounds[index], end));
}

/** Returns every way to cut a list in two, including empty parts. */
export const everyCut = <T>(items: readonly T[]): (readonly T[])[][] =>
  Array.from({ length: items.length + 1 }, (_, place) => cutAt(items, [place]));

/** Generates cuts of a list into parts of any length. */
export const anyCuts = <T>(items: readonly T[]): fc.Arbitrary<(readonly T[])[]> =>
  fc.array(fc.nat(items.length), { maxLength: 12 }).map((places) => cutAt(items, places));

const encoder = new TextEncoder();
export const bytesOf = (text: string): number[] => [...encoder.encode(text)];
