// Facts about a JSON text that `JSON.parse` does not report. Everything here takes one pass over the text and keeps nothing of
// it.

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const blank = 0x20;
const point = 0x2e;
const plus = 0x2b;
const minus = 0x2d;
const smallE = 0x65;
const largeE = 0x45;

const isOpening = (code: number): boolean => code === 0x7b || code === 0x5b;
/** Numbers, which may have millions of digits, are passed over first. */
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isClosing = (code: number): boolean => code === 0x7d || code === 0x5d;

/** The size of a JSON text, in the units that determine the time of parsing and checking it. */
export interface JsonSize {
  /** Nested arrays and objects; the root is level 1. */
  readonly levels: number;
  /** Objects, arrays, strings, numbers, booleans and nulls; the names of members do not count. */
  readonly values: number;
}

/** The result of `scanJson`. */
export interface JsonScan extends JsonSize {
  /**
   * True if no number is long, small or has an exponent, and no member's name is an array index. `JSON.parse` loses nothing of
   * such a text.
   */
  readonly isPlain: boolean;
}

/** Scans a text that may not be JSON. If one of the bounds is exceeded, it stops and returns its findings so far. */
export function scanJson(text: string, bounds: JsonSize): JsonScan {
  let level = 0;
  let levels = 0;
  let values = 1;
  let isPlain = true;
  let isEmpty = false; // nothing has come since a bracket was opened
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= blank) continue;
    if (isDigit(code)) {
      isEmpty = false;
      const end = endOfNumber(text, index);
      isPlain &&= !isLong(text, index, end) && !hasExponent(text, index, end);
      index = end - 1;
      continue;
    }
    if (isOpening(code)) {
      level += 1;
      levels = Math.max(levels, level);
    } else if (isClosing(code)) {
      level -= 1;
      if (isEmpty) values -= 1;
    }
    isEmpty = isOpening(code);
    // The first value of a bracket is counted with it, every other one with the comma before it.
    if (isEmpty || code === comma) values += 1;
    if (levels > bounds.levels || values > bounds.values + 1) break;
    if (code === quote) {
      const end = endOfString(text, index);
      isPlain &&= !mayBeIndex(text, index + 1, end);
      index = end;
    }
  }
  return { levels, values, isPlain };
}

/**
 * Checks if a number may have more digits than a double holds. A double holds every number of 15 digits and every integer up
 * to 2^53. Many schemas have 2^53 - 1 as a bound.
 */
const isLong = (text: string, start: number, end: number): boolean =>
  end - start > 15 && (end - start > 16 || text.slice(start, end) > "9007199254740992");

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    const isPart =
      isDigit(code) || code === point || code === smallE || code === largeE || code === plus || code === minus;
    if (!isPart) break;
  }
  return end;
}

/** Checks if a short number has an exponent, either in the text or when JavaScript writes it: it writes 0.0000001 as 1e-7. */
function hasExponent(text: string, start: number, end: number): boolean {
  if (end - start < 3) return false;
  for (let index = start; index < end; index += 1) {
    const code = text.charCodeAt(index);
    if (code === smallE || code === largeE) return true;
  }
  return text.startsWith("0.000000", start);
}

/** An array index has at most 10 digits, and each may be written as an escape. */
const maxIndexCharacters = 60;

/** Checks if a string may be an array index: JavaScript moves members with such names to the front of their object. */
function mayBeIndex(text: string, start: number, end: number): boolean {
  if (end - start > maxIndexCharacters || end === start) return false;
  for (let index = start; index < end; index += 1) {
    const code = text.charCodeAt(index);
    if (code === backslash) break;
    if (!isDigit(code)) return false;
  }
  const next = text.charCodeAt(end + 1);
  return next === colon || next <= blank;
}

/**
 * Returns the source of a member's value in the root object. If the member is repeated, the last one counts, as in
 * `JSON.parse`.
 * @param text valid JSON
 */
export function sourceOfMember(text: string, name: string): string | undefined {
  let level = 0;
  let label = ""; // the last string on the level of the root's members: in front of a colon it is a name
  let begin: number | undefined;
  let source: string | undefined;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (isDigit(code)) continue;
    if (level === 1 && begin !== undefined && (code === comma || isClosing(code))) {
      source = text.slice(begin, index).trim();
      begin = undefined;
    }
    if (isOpening(code)) level += 1;
    else if (isClosing(code)) level -= 1;
    else if (code === quote) {
      const end = endOfString(text, index);
      if (level === 1) label = text.slice(index, end + 1);
      index = end;
    } else if (code === colon && level === 1 && isNamed(label, name)) begin = index + 1;
  }
  return source;
}

/** A name may be written with escapes, which are at most six times as long. */
const isNamed = (label: string, name: string): boolean =>
  label.length <= 6 * name.length + 2 && JSON.parse(label) === name;

/** Returns the index of the quote that ends the string which begins at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end - 1;
    while (text.charCodeAt(escapes) === backslash) escapes -= 1;
    // An odd number of backslashes before a quote makes it part of the string.
    if ((end - escapes) % 2 === 1) return end;
  }
  return text.length;
}
