import { visitRequestSchemas, typesOf } from "./walk-schemas.mjs";

const bothEnds = [
  ["minimum", "exclusiveMinimum"],
  ["maximum", "exclusiveMaximum", "x-model-limit"],
];
/**
 * A larger number than the model's own is lowered to it, so it needs no maximum. Exact bounds stand in for those of a
 * schema, which readers round to doubles.
 */
const needs = { number: bothEnds, integer: bothEnds, string: [["maxLength", "pattern"]], array: [["maxItems"]] };

/** In requests every number has both bounds, every text a length or a pattern, every list and every map a size. */
export const requestBounds = visitRequestSchemas((schema, location, { report }) => {
  const listsItsValues = schema.enum !== undefined || schema.const !== undefined;
  if (listsItsValues) return;
  for (const type of typesOf(schema))
    for (const keywords of schema["x-exact-bounds"] ? [] : (needs[type] ?? []))
      if (!keywords.some((keyword) => schema[keyword] !== undefined))
        report({ message: `A ${type} in a request needs ${keywords.join(" or ")}.`, location });
  // A map has a schema for its values. Free-form objects (`additionalProperties: true`) are JSON Schemas of the caller.
  const isMap = typeof schema.additionalProperties === "object";
  if (isMap && schema.maxProperties === undefined)
    report({ message: "A map in a request needs maxProperties.", location });
});
