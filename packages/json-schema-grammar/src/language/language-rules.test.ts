import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { openGrammarMatcher } from "../../testing/match-grammar.ts";
import type { Accepts } from "../../testing/match-grammar.ts";
import { textsOf } from "../../testing/sample-language.ts";
import { ComplexityBudget, SchemaTooComplexError } from "../complexity-budget.ts";
import { LanguageRules } from "./language-rules.ts";
import { Language } from "./language.ts";
import { NumberSet } from "./number-set.ts";

const enough = new ComplexityBudget(1e9);
const pattern = (source: string): Language => Language.pattern(source, enough);

let matchWith: (grammar: string) => Accepts;
beforeAll(async () => {
  matchWith = await openGrammarMatcher();
});

const grammarOf = (rules: LanguageRules, start: string): string => `root ::= ${start}\n${rules.lines.join("\n")}\n`;

function stringMatcher(language: Language): Accepts {
  const rules = new LanguageRules("string", enough);
  return matchWith(grammarOf(rules, rules.string(language)));
}

function numberMatcher(set: NumberSet): Accepts {
  const rules = new LanguageRules("number", enough);
  return matchWith(grammarOf(rules, rules.number(set)));
}

const dnsName = String.raw`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`;
const formats = ["date-time", "email", "uri", "ipv6", "duration", "uuid", "regex"];

describe("llama.cpp lets a model write exactly the strings of the language", () => {
  test.each<[string, Language]>([
    ["any", Language.any],
    ["any of a length", Language.any.withLength(2, 4, enough)],
    ["literals", Language.of(["", "abc", "abd", 'x"\\', "\u0000\u001f\n", "é\u{1F600}"], enough)],
    ["all but literals", Language.of(["a", "ab", "0"], enough).complement(enough)],
    ["a search", pattern("ab|\\d\\d")],
    ["a name", pattern(dnsName).withLength(0, 12, enough)],
    ["letters", pattern("^\\p{L}{1,3}$")],
    ["no letters", pattern("^\\P{L}{1,3}$")],
    ["groups of repeats", pattern("^((a{0,2}b){0,2}c){0,2}$")],
    ["a look-ahead", pattern("^(?=.*a)(?!.*bb).{2,6}$")],
    ["punctuation", pattern('^[\\^\\-\\]\\\\"\\[/$.*]+$')],
    ...formats.map((name): [string, Language] => [name, Language.format(name) ?? Language.none]),
  ])("%s", (_title, language) => {
    const accepts = stringMatcher(language);
    const others = fc.string({
      unit: fc.constantFrom("a", "b", "0", "-", ".", '"', "\\", "\n", "é", "\u{1F600}"),
      maxLength: 5,
    });
    fc.assert(
      fc.property(textsOf(language), others, (text, other) => {
        expect([text, accepts(JSON.stringify(text))]).toEqual([text, true]);
        expect([other, accepts(JSON.stringify(other))]).toEqual([other, language.includes(other)]);
      }),
    );
  });

  test.each([
    [0, 256],
    [255, 257],
    [300, 5000],
    [1, 65_535],
    [70_000, 70_001],
    [1000, Infinity],
  ])("of %d to %d characters", (min, max) => {
    const accepts = stringMatcher(Language.any.withLength(min, max, enough));
    const lengths = [0, min - 1, min, min + 1, min + 256, max - 256, max - 1, max, max + 1];
    for (const length of lengths.filter((count) => count >= 0 && count < Infinity)) {
      const isAllowed = length >= min && length <= max;
      expect([length, accepts(JSON.stringify("é".repeat(length)))]).toEqual([length, isAllowed]);
    }
  });

  test("with one spelling for each character", () => {
    const accepts = stringMatcher(Language.any);
    expect([String.raw`"\u000a"`, String.raw`"\u0061"`, String.raw`"\/"`, String.raw`"\u001F"`].some(accepts)).toBe(
      false,
    );
  });
});

describe("llama.cpp lets a model write exactly the numbers of the set", () => {
  const between = (minimum: number, maximum: number): NumberSet =>
    NumberSet.within({ minimum, maximum }, false, enough);

  test.each<[string, NumberSet]>([
    ["any", NumberSet.any()],
    ["integers", NumberSet.integers()],
    ["bytes", between(0, 255).intersect(NumberSet.integers(), enough)],
    ["degrees", between(-180, 180)],
    ["more than a fraction", NumberSet.within({ exclusiveMinimum: 0.05 }, false, enough)],
    ["cents", NumberSet.multiplesOf(0.01, enough)],
    ["multiples of 7", NumberSet.multiplesOf(7, enough)],
    ["a few values", NumberSet.of([0, -1.5, 1e21], enough)],
  ])("%s", (_title, set) => {
    const accepts = numberMatcher(set);
    const written = set.written(enough);
    const others = fc.oneof(fc.integer({ min: -300, max: 300 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
    fc.assert(
      fc.property(textsOf(written), others, (text, other) => {
        expect([text, accepts(text), set.includes(Number(text))]).toEqual([text, true, true]);
        expect([other, accepts(String(other))]).toEqual([other, written.includes(String(other))]);
      }),
    );
  });
});

describe("the rules", () => {
  test("are shared by equal languages", () => {
    const rules = new LanguageRules("r", enough);
    const first = rules.string(pattern("^(a|b)c$"));
    const { length } = rules.lines;
    expect(rules.string(pattern("^[ab]c$"))).toBe(first);
    expect(rules.lines.length).toBe(length);
  });

  test("of a string of any length up to a million are short", () => {
    const rules = new LanguageRules("r", enough);
    rules.string(Language.any.withLength(3, 1_000_000, enough));
    expect(rules.lines.join("\n").length).toBeLessThan(400);
  });

  test("count no part of a string twice, because llama.cpp unfolds every count", () => {
    const rules = new LanguageRules("r", enough);
    rules.string(pattern("^[a-z ]+[.][a-z]+$").withLength(3, 1024, enough));
    const counts = rules.lines.flatMap((line) =>
      Array.from(line.matchAll(/\{(?:\d+,)?(\d+)\}/g), ([, most]) => Number(most)),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThan(2048);
  });

  test("are refused where they would be too long", () => {
    const rules = new LanguageRules("r", enough);
    expect(() => rules.string(pattern(dnsName).withLength(0, 5000, enough))).toThrow(SchemaTooComplexError);
  });
});
