import { expect, test } from "vitest";
import { GrammarSampler, GrammarWalk, openGrammarMatcher, randomFrom, readGbnf } from "../testing/index.ts";
import { readDraft } from "./official-suite/judge-suite.ts";
import { compileSchema } from "../src/index.ts";

/** Texts that the grammar allows, and the same with a character less, twice or another. */
function textsOf(grammar: string, seed: number): string[] {
  const sampler = new GrammarSampler(readGbnf(grammar));
  const random = randomFrom(seed);
  return Array.from({ length: 3 }, () => sampler.sample(random, 30)).flatMap((text) => {
    const characters = Array.from(text);
    const place = Math.floor(random() * characters.length);
    const one = characters[place] ?? "";
    const changed = ["", one + one, "0"].map((other) => characters.toSpliced(place, 1, other).join(""));
    return [text, ...changed];
  });
}

test("our walk through a grammar gives the verdicts of llama.cpp, and allows what is drawn from it", async () => {
  const matcherOf = await openGrammarMatcher();
  const compiled = readDraft("draft2020-12").flatMap(({ schema }) => {
    const outcome = compileSchema(schema);
    return "grammar" in outcome ? [outcome.grammar] : [];
  });
  const grammars = [...new Set(compiled)];
  expect(grammars.length).toBeGreaterThan(50);
  let rejected = 0;
  for (const [seed, grammar] of grammars.entries()) {
    const walk = new GrammarWalk(readGbnf(grammar));
    const accepts = matcherOf(grammar);
    for (const [index, text] of textsOf(grammar, seed).entries()) {
      const verdict = walk.accepts(text);
      expect({ grammar, text, verdict }).toEqual({ grammar, text, verdict: accepts(text) });
      if (index % 4 === 0) expect({ grammar, text, verdict }).toEqual({ grammar, text, verdict: true });
      if (!verdict) rejected += 1;
    }
  }
  expect(rejected).toBeGreaterThan(grammars.length);
});
