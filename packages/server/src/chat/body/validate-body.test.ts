import { RequestSchemas } from "@parley/inference";
import { compileWanted } from "@parley/inference/compile-wanted";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { requestBodies } from "../../../../../openapi/checks/request-bodies.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { dependenciesOf } from "./dependencies.ts";
import { explainViolation } from "./explain-violation.ts";
import { keepsRules } from "./field-rules.ts";
import { parseJsonBody } from "./parse-json-body.ts";
import { createGate } from "./request-gate.ts";
import { requestSchema } from "./schema.ts";

const gate = createGate();

const read = (json: string) => {
  const { value, text } = parseJsonBody(Buffer.from(json));
  return { value, rules: dependenciesOf(value, text, new RequestSchemas(compileWanted)) };
};

test("the gate with the rules always agrees with the walk that explains a refusal", () => {
  const verdicts = { accepted: 0, "refused by a rule": 0, "refused by the schema": 0 };
  const bodies = requestBodies(contract.components.schemas);
  fc.assert(
    fc.property(bodies, (json) => {
      const { value, rules } = read(json);
      const keepsSchema = gate.accepts(value);
      const isAccepted = keepsSchema && keepsRules(value, rules);
      verdicts[isAccepted ? "accepted" : keepsSchema ? "refused by a rule" : "refused by the schema"] += 1;
      if (keepsSchema) expect(explainViolation(requestSchema, value)).toBeUndefined();
      const again = read(json);
      const violation = explainViolation(requestSchema, again.value, again.rules);
      expect(violation === undefined).toBe(isAccepted);
      if (violation) expect(violation.message).toContain(violation.param ?? "The body");
    }),
    { numRuns: 3000 },
  );
  // The test proves something only if there are enough bodies of each kind.
  expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(150);
});

test("every dependency that the contract lists has a rule, and every rule is listed", () => {
  const listed = contract.components.schemas.ChatCompletionRequest["x-dependencies"].map(({ member }) => member);
  expect(Object.keys(read("{}").rules)).toEqual([...new Set(listed)]);
});
