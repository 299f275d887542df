import type { Engine } from "../../src/index.ts";
import type { Ask } from "../../testing/requests.ts";

/** The engine under test, as each group of tests gets it. */
export interface Given {
  readonly engine: () => Engine;
  readonly talkative: (members: Ask) => Ask;
}

export const weather = {
  name: "get_weather",
  description: "The weather of a place",
  parameters: {
    type: "object",
    properties: { celsius: { type: "boolean" } },
    required: ["celsius"],
    additionalProperties: false,
  },
};
export const noArguments = { name: "list_pools", description: undefined, parameters: undefined };

/** A schema with short values, so an answer is complete below all but tiny token limits. */
export const shortSchema = {
  type: "object",
  properties: { kind: { enum: ["swap", "stake"] }, isFinal: { type: "boolean" } },
  required: ["kind", "isFinal"],
  additionalProperties: false,
};

/** Requests for each form of answer. */
export const modes: readonly (readonly [title: string, members: Ask])[] = [
  ["text", {}],
  ["text after reasoning", { isReasoning: true }],
  ["a forced call", { tools: [weather], toolChoice: { oneOf: [weather.name] } }],
  ["a forced call after reasoning", { tools: [weather], toolChoice: { oneOf: [weather.name] }, isReasoning: true }],
  ["text where a call was possible", { tools: [weather, noArguments], toolChoice: "auto" }],
  ["JSON", { format: { type: "json_schema", schema: shortSchema } }],
  ["any JSON object", { format: { type: "json_object" } }],
  ["JSON after reasoning", { format: { type: "json_schema", schema: shortSchema }, isReasoning: true }],
  ["JSON where a call was possible", { format: { type: "json_object" }, tools: [weather], toolChoice: "auto" }],
];
