import { expect, test } from "vitest";
import type { Engine } from "../src/index.ts";
import { askOne } from "../testing/requests.ts";
import { realSchemas } from "@parley/json-schema-grammar/testing";
import { validatorOf } from "@parley/json-schema-grammar/testing";

/** Schemas with answers of a bounded length, which a small model can finish. */
const chosen = [
  "an appointment",
  "zod: what may be null or absent",
  "zod: a discriminated union",
  "pydantic: an order with definitions",
  "OpenAPI 3.0: a page, in draft 4",
  "draft 4: definitions and a tuple",
  "draft 7: a condition",
  "dependent members",
  "a price",
  "a temperature",
  "flags, each once",
  "one admin at least",
  "a slug",
  "a pattern that is not anchored",
];
const seeds = ["1", "2", "3"];
/** On a CPU, vLLM takes long for 750 tokens under a grammar. */
const patienceMs = 120_000;

/** Tests the same schemas on every engine: a finished answer satisfies its schema, although the model prefers other tokens. */
export function testFinishedAnswers(engineOf: () => Engine): void {
  test.each(chosen)(
    "a finished answer satisfies %s",
    async (name) => {
      const schema = realSchemas[name] ?? {};
      const format = { type: "json_schema", schema } as const;
      const answers = await Promise.all(
        seeds.map((seed) =>
          askOne(
            engineOf(),
            { seed, sampling: { temperature: 1 }, maxTokens: 250, format },
            AbortSignal.timeout(patienceMs),
          ),
        ),
      );
      const finished = answers.filter(({ finish }) => finish === "stop").map(({ text }) => text);
      const isValid = validatorOf(schema);
      expect(finished.filter((text) => !isValid(JSON.parse(text)))).toEqual([]);
      expect(finished.length).toBeGreaterThan(0);
    },
    patienceMs + 10_000,
  );
}
