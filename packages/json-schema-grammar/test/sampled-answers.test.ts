import * as fc from "fast-check";
import { expect, test } from "vitest";
import { GrammarSampler, randomFrom, readGbnf } from "../testing/index.ts";
import { anySchemas } from "../testing/any-schemas.ts";
import { realSchemas } from "../testing/real-schemas.ts";
import { validatorOf } from "../testing/validator-of.ts";
import { compileSchema } from "../src/index.ts";

// ajv accepts every text that a grammar lets a model write.

/** Texts of the grammar, each with the seed that it is drawn with. */
function samplesOf(grammar: string, firstSeed: number, count: number): { seed: number; text: string }[] {
  const sampler = new GrammarSampler(readGbnf(grammar));
  return Array.from({ length: count }, (_, index) => {
    const seed = firstSeed + index;
    return { seed, text: sampler.sample(randomFrom(seed), 10 + (index % 100)) };
  });
}

test.each(Object.entries(realSchemas))("every answer satisfies %s", (_name, schema) => {
  const compiled = compileSchema(schema);
  if ("fault" in compiled) throw new Error(`refused: ${compiled.fault.reason}`);
  const isValid = validatorOf(schema);
  const wrong = samplesOf(compiled.grammar, 1, 200).filter(({ text }) => !isValid(JSON.parse(text)));
  expect(wrong).toEqual([]);
});

test("every answer satisfies its schema, whatever the schema", () => {
  let enforced = 0;
  fc.assert(
    fc.property(anySchemas, fc.nat(), (schema, firstSeed) => {
      const compiled = compileSchema(schema);
      if ("fault" in compiled) return;
      enforced += 1;
      const isValid = validatorOf(schema);
      const wrong = samplesOf(compiled.grammar, firstSeed, 10).filter(({ text }) => !isValid(JSON.parse(text)));
      expect(wrong).toEqual([]);
    }),
    { numRuns: 100 },
  );
  expect(enforced).toBeGreaterThan(50);
});
