import { compileSchema } from "@parley/json-schema-grammar";

const order = {
  type: "object",
  properties: {
    side: { enum: ["buy", "sell"] },
    lots: { type: "integer", minimum: 1, maximum: 20, not: { multipleOf: 10 } },
    note: { type: "string", maxLength: 40 },
  },
  required: ["side", "lots"],
  additionalProperties: false,
};

const compiled = compileSchema(order);
if ("fault" in compiled)
  throw new Error(`${compiled.fault.path}: ${compiled.fault.reason}`);
console.log(compiled.grammar);
