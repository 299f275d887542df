import { RegExpParser } from "@eslint-community/regexpp";
import type { AST } from "@eslint-community/regexpp";
import { charSet, invert } from "./char-set.ts";
import type { CharSet } from "./char-set.ts";
import { propertySet } from "./unicode-property.ts";

/** A pattern that no grammar can enforce, or that is not a regular expression. The message may be shown to the caller. */
export class UnenforceablePatternError extends Error {
  override name = "UnenforceablePatternError";
}

/** A regular expression without its captures. */
export type Expression =
  | { readonly kind: "chars"; readonly chars: CharSet }
  | { readonly kind: "sequence"; readonly items: readonly Expression[] }
  | { readonly kind: "choice"; readonly options: readonly Expression[] }
  | { readonly kind: "repeat"; readonly item: Expression; readonly min: number; readonly max: number }
  | { readonly kind: "assertion"; readonly what: Assertion }
  /** A lookahead: the following text must, or must not, begin with the expression. */
  | { readonly kind: "lookahead"; readonly item: Expression; readonly isNegated: boolean };

export type Assertion = "start" | "end" | "boundary" | "no boundary";

/**
 * Reads an ECMA-262 pattern. JSON Schema asks for Unicode mode; a pattern that is only valid without it, such as `\-`, is
 * read with the rules of annex B.
 * @throws {UnenforceablePatternError}
 */
export function parsePattern(source: string): Expression {
  refuseDeepGroups(source);
  const parser = new RegExpParser({ ecmaVersion: 2025 });
  try {
    return choice(parser.parsePattern(source, 0, source.length, { unicode: true }).alternatives);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  refusePythonSyntax(source);
  try {
    return choice(parser.parsePattern(source, 0, source.length, {}).alternatives);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UnenforceablePatternError(`it is not an ECMA-262 regular expression: ${error.message}`, { cause: error });
  }
}

/** Patterns need fewer levels, and the parser's call stack has room for more. */
const maxGroupLevels = 250;

function refuseDeepGroups(source: string): void {
  let level = 0;
  let isInClass = false;
  for (let index = 0; index < source.length; index += 1) {
    const character = source[index];
    if (character === "\\") index += 1;
    else if (isInClass) isInClass = character !== "]";
    else if (character === "[") isInClass = true;
    else if (character === "(") level += 1;
    else if (character === ")") level -= 1;
    if (level > maxGroupLevels)
      throw new UnenforceablePatternError(`groups are nested on more than ${maxGroupLevels} levels`);
  }
}

/** Annex B would read some of these as plain letters, and an astral character in a class as two halves. */
function refusePythonSyntax(source: string): void {
  const [construct] = /\\[AZz]|\(\?P[<=>]|\(\?[a-zA-Z]+\)|\[\[:|\\[pP]\{|[\u{10000}-\u{10ffff}]/u.exec(source) ?? [];
  if (construct !== undefined) throw new UnenforceablePatternError(`${construct} has no meaning in ECMA-262`);
}

function choice(alternatives: readonly AST.Alternative[]): Expression {
  const options = alternatives.map(({ elements }) => sequence(elements.map(read)));
  return options.length === 1 && options[0] ? options[0] : { kind: "choice", options };
}

const sequence = (items: readonly Expression[]): Expression =>
  items.length === 1 && items[0] ? items[0] : { kind: "sequence", items };

function read(element: AST.Element): Expression {
  switch (element.type) {
    case "Group":
      if (element.modifiers) throw new UnenforceablePatternError("modifiers such as (?i:…) are not supported");
      return choice(element.alternatives);
    case "CapturingGroup":
      return choice(element.alternatives);
    case "Quantifier":
      return { kind: "repeat", item: read(element.element), min: element.min, max: element.max };
    case "Backreference":
      throw new UnenforceablePatternError(`the back-reference ${element.raw} is not regular`);
    case "Assertion":
      return assertion(element);
    case "Character":
    case "CharacterSet":
    case "CharacterClass":
      return { kind: "chars", chars: setOf(element) };
    case "ExpressionCharacterClass":
      throw new UnenforceablePatternError(`${element.raw} needs the v flag, which JSON Schema does not set`);
  }
}

function assertion(element: AST.Assertion): Expression {
  switch (element.kind) {
    case "lookahead":
      return { kind: "lookahead", item: choice(element.alternatives), isNegated: element.negate };
    case "lookbehind":
      throw new UnenforceablePatternError(`the look-behind ${element.raw} is not supported`);
    case "word":
      return { kind: "assertion", what: element.negate ? "no boundary" : "boundary" };
    case "start":
    case "end":
      return { kind: "assertion", what: element.kind };
  }
}

const digits = charSet([[0x30, 0x39]]);
export const wordCharacters = charSet([
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]);
const lineEnds = charSet([
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
]);
const spaces = charSet([
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]);

function setOf(element: AST.Character | AST.CharacterSet | AST.CharacterClassElement | AST.CharacterClass): CharSet {
  switch (element.type) {
    case "Character":
      return charSet([[element.value, element.value]]);
    case "CharacterClassRange":
      return charSet([[element.min.value, element.max.value]]);
    case "CharacterClass": {
      const set = charSet(element.elements.flatMap(setOf));
      return element.negate ? invert(set) : set;
    }
    case "CharacterSet":
      return escapedSet(element);
    case "ClassStringDisjunction":
    case "ExpressionCharacterClass":
      throw new UnenforceablePatternError(`${element.raw} needs the v flag, which JSON Schema does not set`);
  }
}

function escapedSet(element: AST.CharacterSet): CharSet {
  if (element.kind === "any") return invert(lineEnds);
  const set =
    element.kind === "property"
      ? propertySet(element.value === null ? element.key : `${element.key}=${element.value}`)
      : { digit: digits, space: spaces, word: wordCharacters }[element.kind];
  return element.negate ? invert(set) : set;
}
