import { charSet } from "./char-set.ts";
import type { CharSet, Range } from "./char-set.ts";

const known = new Map<string, CharSet>();

/**
 * The code points with a Unicode property, as it is written between the braces of `\p{…}`. JavaScript's own regular
 * expressions know them, so the package carries no table. The first use of a property takes some tens of milliseconds.
 */
export function propertySet(property: string): CharSet {
  const cached = known.get(property);
  if (cached) return cached;
  const pattern = new RegExp(`\\p{${property}}`, "u");
  const set = charSet(Array.from(alikeRanges()).filter(([first]) => pattern.test(String.fromCodePoint(first))));
  known.set(property, set);
  return set;
}

/**
 * All code points in ranges in which all have the same properties. Planes 4 to 13 have no characters, 15 and 16 are private.
 */
function* alikeRanges(): Iterable<Range> {
  for (let codePoint = 0; codePoint < 0x40000; codePoint++) yield [codePoint, codePoint];
  for (let plane = 0x40000; plane <= 0x100000; plane += 0x10000) {
    if (plane === 0xe0000) for (let codePoint = plane; codePoint < 0xe1000; codePoint++) yield [codePoint, codePoint];
    yield [plane === 0xe0000 ? 0xe1000 : plane, plane + 0xfffd];
    // The last two code points of each plane are noncharacters.
    yield [plane + 0xfffe, plane + 0xffff];
  }
}
