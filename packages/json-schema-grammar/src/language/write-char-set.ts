import { charSet, everything, intersectSets, subtractSet } from "./char-set.ts";
import type { CharSet, Range } from "./char-set.ts";

/** The characters that JSON must escape: the quote, the backslash and the control characters. */
const escaped = charSet([
  [0x00, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
]);
const shortEscapes: ReadonlyMap<number, string> = new Map([
  [0x22, '"'],
  [0x5c, "\\"],
  [0x08, "b"],
  [0x0c, "f"],
  [0x0a, "n"],
  [0x0d, "r"],
  [0x09, "t"],
]);

/**
 * The GBNF alternatives of one character inside a JSON string. Each character has one spelling, the one that
 * `JSON.stringify` writes: so a text has one parse, and a model cannot write the same character as two texts.
 */
export function writeJsonCharacter(set: CharSet): string[] {
  const raw = subtractSet(set, escaped);
  return [...(raw.length > 0 ? [writeClass(raw)] : []), ...writeEscapes(intersectSets(set, escaped))];
}

/** A GBNF class of characters, in the shorter of its two forms. */
export function writeClass(set: CharSet): string {
  const others = subtractSet(everything, set);
  return others.length < set.length ? `[^${others.map(writeRange).join("")}]` : `[${set.map(writeRange).join("")}]`;
}

const writeRange = ([first, last]: Range): string => {
  if (first === last) return writeCodePoint(first);
  return `${writeCodePoint(first)}${last === first + 1 ? "" : "-"}${writeCodePoint(last)}`;
};

function writeCodePoint(codePoint: number): string {
  const text = String.fromCodePoint(codePoint);
  if (/[A-Za-z0-9_ .,:;/@+*=#%&!?~<>(){}]/.test(text)) return text;
  const digits = codePoint.toString(16);
  // Not \x: xgrammar would read more than two digits after it.
  return codePoint < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
}

function writeEscapes(set: CharSet): string[] {
  const codePoints = set.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  );
  const short = codePoints.flatMap((codePoint) => shortEscapes.get(codePoint) ?? []);
  const long = codePoints.filter((codePoint) => !shortEscapes.has(codePoint));
  const tails = [0, 1].flatMap((high) => {
    const low = long.filter((codePoint) => codePoint >> 4 === high).map((codePoint) => (codePoint & 15).toString(16));
    return low.length > 0 ? [`"\\\\u00${high}" ${writeClass(charSet(low.map(rangeOf)))}`] : [];
  });
  return [...(short.length > 0 ? [`"\\\\" ${writeClass(charSet(short.map(rangeOf)))}`] : []), ...tails];
}

const rangeOf = (character: string): Range => [character.codePointAt(0) ?? 0, character.codePointAt(0) ?? 0];
