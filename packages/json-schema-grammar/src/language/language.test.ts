import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ComplexityBudget, SchemaTooComplexError } from "../complexity-budget.ts";
import { Language } from "./language.ts";
import { UnenforceablePatternError } from "./parse-pattern.ts";

const enough = new ComplexityBudget(1e9);
const pattern = (source: string): Language => Language.pattern(source, enough);
const languageOf = (...texts: string[]): Language => Language.of(texts, enough);

const dnsName = String.raw`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`;

/** Patterns that JavaScript reads in Unicode mode, too. */
const patterns = [
  "",
  "ab",
  "^ab?c*$",
  "^a|b$",
  "(^|,)a(,|$)",
  "^(a|ab)(c|bcd)*?$",
  "^$",
  "$^",
  "a^b",
  "[^a-c]",
  "^[^]*$",
  "^.$",
  "^[\\s\\S]{2,3}$",
  "\\d\\D",
  "^\\w+\\s\\W$",
  "\\bab\\b",
  "^\\Ba|c\\B",
  "^a{2,}$",
  "^(ab){1,2}$",
  "^((a{0,2}b){0,2}c){0,2}$",
  "(?<x>a)(?:b)",
  "\\u{1F600}|\\x61\\t",
  "^\\p{Lu}\\P{Lu}$",
  "^(?=.*a)(?!.*bb).{2,4}$",
  "^(?!a$)(?!b)|^bc$",
  "^(?!.*c)",
  dnsName,
];
const letters = fc.constantFrom("a", "b", "c", "d", "A", "0", "_", "-", ".", ",", " ", "\t", "\n", "é", "\u{1F600}");
const texts = fc.string({ unit: letters, maxLength: 6 });

describe("a pattern means what it means in JavaScript", () => {
  test.each(patterns)("%s", (source) => {
    const language = pattern(source);
    const regExp = new RegExp(source, "u");
    fc.assert(fc.property(texts, (text) => language.includes(text) === regExp.test(text)));
    const shortest = language.shortest();
    expect(shortest === undefined ? language.isEmpty : regExp.test(shortest)).toBe(true);
  });

  test("also where it is only valid without Unicode mode", () => {
    expect(pattern(String.raw`^\-\_[\w-.]$`).includes("-_.")).toBe(true);
    expect(pattern("^a{,2}$").includes("a{,2}")).toBe(true);
  });
});

test.each([
  [String.raw`(a)\1`, "the back-reference \\1 is not regular"],
  ["(?<=a)b", "the look-behind (?<=a) is not supported"],
  ["a(?=b)", "a look-ahead is supported only after a ^ that begins the pattern"],
  ["(?i:a)", "modifiers such as (?i:…) are not supported"],
  ["(?i)a", "(?i) has no meaning in ECMA-262"],
  ["(?P<name>a)", "(?P< has no meaning in ECMA-262"],
  ["a\\Z", "\\Z has no meaning in ECMA-262"],
  ["[[:alpha:]]\\-", "[[: has no meaning in ECMA-262"],
  ["a(", "it is not an ECMA-262 regular expression"],
])("%s is refused by name", (source, reason) => {
  expect(() => pattern(source)).toThrow(UnenforceablePatternError);
  expect(() => pattern(source)).toThrow(reason);
});

describe("languages are sets", () => {
  const somePatterns = fc.constantFrom(...patterns);
  test("whatever is combined", () => {
    fc.assert(
      fc.property(somePatterns, somePatterns, texts, fc.nat(4), fc.nat(4), (a, b, text, min, more) => {
        const [first, second] = [pattern(a), pattern(b)];
        const [inFirst, inSecond] = [first.includes(text), second.includes(text)];
        const length = Array.from(text).length;
        expect(first.intersect(second, enough).includes(text)).toBe(inFirst && inSecond);
        expect(first.union(second, enough).includes(text)).toBe(inFirst || inSecond);
        expect(first.minus(second, enough).includes(text)).toBe(inFirst && !inSecond);
        expect(first.complement(enough).includes(text)).toBe(!inFirst);
        const short = first.withLength(min, min + more, enough);
        expect(short.includes(text)).toBe(inFirst && length >= min && length <= min + more);
      }),
    );
  });

  test("laws hold by key", () => {
    fc.assert(
      fc.property(somePatterns, somePatterns, (a, b) => {
        const [first, second] = [pattern(a), pattern(b)];
        const both = first.intersect(second, enough);
        expect(both.equals(second.intersect(first, enough))).toBe(true);
        expect(first.complement(enough).complement(enough).equals(first)).toBe(true);
        expect(first.minus(second, enough).union(both, enough).equals(first)).toBe(true);
        expect(first.minus(second, enough).isDisjointFrom(second, enough)).toBe(true);
        expect(first.isDisjointFrom(second, enough)).toBe(both.isEmpty);
      }),
      { numRuns: 50 },
    );
  });
});

describe("a finite language", () => {
  const names = languageOf("a", "b", "ab", "é\u{1F600}");

  test("counts and lists its texts", () => {
    expect(names.size()).toBe(4);
    expect(names.texts(4, enough)?.toSorted()).toEqual(["a", "ab", "b", "é\u{1F600}"]);
    expect(names.texts(3, enough)).toBeUndefined();
    expect(pattern("^[ab]{1,2}$").texts(9, enough)?.length).toBe(6);
    expect(pattern("^[ab]{3}c?$").size()).toBe(16);
    expect(pattern("^a*$").size()).toBe(Infinity);
    expect(Language.none.size()).toBe(0);
  });

  test("counts code points, not UTF-16 units", () => {
    expect(names.withLength(2, 2, enough).texts(4, enough)).toEqual(["ab", "é\u{1F600}"]);
  });

  test("has no text with half a surrogate pair", () => {
    expect(languageOf("\ud83e", "x").texts(4, enough)).toEqual(["x"]);
    expect(Language.any.includes("\ud83e")).toBe(false);
  });
});

describe("work is bounded", () => {
  test("a pattern whose automaton doubles with every character is refused", () => {
    expect(() => Language.pattern("^.*a.{20}b$", new ComplexityBudget())).toThrow(SchemaTooComplexError);
  });

  test("a pattern that repeats repetitions is refused", () => {
    expect(() => pattern("^((a{1000}){1000}){1000}$")).toThrow(SchemaTooComplexError);
  });

  test("every operation spends", () => {
    const budget = new ComplexityBudget();
    expect(() => {
      for (let index = 0; index < 10_000; index++) Language.pattern(dnsName, budget).withLength(0, 253, budget);
    }).toThrow("too much work");
  });
});
