import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { biasOn, readMiniVocabulary, startMini } from "./start-engines.ts";
import type { StartedEngine } from "./start-engines.ts";
import { ask } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";
import type { Vocabulary } from "../src/prompt/vocabulary.ts";

let started: StartedEngine;
let vocabulary: Vocabulary;
beforeAll(async () => {
  vocabulary = await readMiniVocabulary();
  // Settings of a model that are beyond all bounds.
  const dry = { multiplier: 1e30, base: 1e30, allowedTokens: 1, allowedDigits: 1 };
  started = await startMini({ processors: { dry, length: { after: 4, perToken: 1e30 } } });
  await started.engine.whenReady();
});
afterAll(() => started[Symbol.asyncDispose]());

const tiny = [Number.MIN_VALUE, 1e-46, 1e-39];

/** The bounds of the contract, and values that a float cannot tell from them. */
const sampling = fc.record({
  temperature: fc.constantFrom(0, ...tiny, 1e-4, 1, 2),
  top_p: fc.constantFrom(...tiny, 0.5, 1),
  top_k: fc.constantFrom(0, 1, 2_147_483_647),
  min_p: fc.constantFrom(0, ...tiny, 1),
  frequency_penalty: fc.constantFrom(-2, 0, 2),
  presence_penalty: fc.constantFrom(-2, 0, 2),
  repetition_penalty: fc.constantFrom(...tiny, 1e-10, 0.01, 1, 2),
});

const schema = {
  type: "object",
  properties: { a: { enum: ["x", "y"] }, b: { type: "string", maxLength: 5 } },
  required: ["a", "b"],
  additionalProperties: false,
};
const tool = { name: "look_up", description: undefined, parameters: schema };
const shapes: readonly Ask[] = [
  {},
  { isReasoning: true },
  { format: { type: "json_object" } },
  { format: { type: "json_schema", schema } },
  { tools: [tool], toolChoice: "auto" },
  { tools: [tool], toolChoice: { oneOf: ["look_up"] } },
];

/** The same bias for every token: special tokens, and all tokens that a grammar needs. */
const everywhere = (bias: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: vocabulary.size }, (_, id) => [id, bias]));
const biases = {
  none: () => ({}),
  "forced special tokens": () => biasOn(vocabulary, vocabulary.specialTokens, 100),
  "all banned": () => everywhere(-100),
  "all forced": () => everywhere(100),
};

const request = fc.record({
  sampling,
  shape: fc.constantFrom(...shapes),
  bias: fc.constantFrom(...(Object.keys(biases) as (keyof typeof biases)[])),
  topLogprobs: fc.constantFrom(undefined, 0, 20),
  n: fc.constantFrom(1, 2),
  seed: fc.constantFrom(undefined, "7"),
});

test("every combination of sampling parameters is answered, and no special token reaches the content", async () => {
  const { pid } = started.engine;
  const requests = fc.sample(request, { numRuns: 240, seed: 44 });
  for (let index = 0; index < requests.length; index += 6) {
    await Promise.all(
      requests.slice(index, index + 6).map(async ({ shape, bias, ...members }) => {
        const logit_bias = biases[bias]();
        const asked = { ...shape, ...members, maxTokens: 12, sampling: { ...members.sampling, logit_bias } };
        const { choices } = await ask(started.engine, asked).catch((error: unknown) => {
          throw new Error(JSON.stringify({ shape, bias, ...members }), { cause: error });
        });
        for (const { text, tokens, finish } of choices) {
          expect(finish).toBeDefined();
          expect(vocabulary.specialTokens.filter((spelling) => text.includes(spelling))).toEqual([]);
          const logprobs = tokens.flatMap(({ logprob = 0, top = [] }) => [logprob, ...top.map((one) => one.logprob)]);
          expect(logprobs.filter((logprob) => !(Number.isFinite(logprob) && logprob <= 0))).toEqual([]);
        }
      }),
    );
  }
  expect([started.engine.pid, started.engine.gauges().restarts]).toEqual([pid, 0]);
});
