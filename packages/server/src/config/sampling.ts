import { z } from "zod";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { mapping } from "./value-kinds.ts";

/** The sampling fields of a request. */
export const samplingNames = [
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "frequency_penalty",
  "presence_penalty",
  "repetition_penalty",
] as const;
export type SamplingName = (typeof samplingNames)[number];

/** Returns the schema of a sampling value. It has the bounds of the request field that it replaces. */
function valueOf(name: SamplingName) {
  const field = contract.components.schemas.ChatCompletionRequest.properties[name];
  const { minimum, exclusiveMinimum, maximum }: { minimum?: number; exclusiveMinimum?: number; maximum: number } =
    field;
  const isWhole = field.type.includes("integer");
  const bounds =
    minimum === undefined ? `above ${exclusiveMinimum} and at most ${maximum}` : `from ${minimum} to ${maximum}`;
  const error = `a ${isWhole ? "whole " : ""}number ${bounds}`;
  const number = (isWhole ? z.int({ error }) : z.number({ error })).max(maximum, { error });
  return (
    minimum === undefined ? number.gt(exclusiveMinimum ?? 0, { error }) : number.min(minimum, { error })
  ).optional();
}

/** The sampling values of requests that set none. */
export const samplingSchema = mapping(
  // The type of Object.fromEntries does not keep the names.
  Object.fromEntries(samplingNames.map((name) => [name, valueOf(name)])) as Record<
    SamplingName,
    ReturnType<typeof valueOf>
  >,
);
