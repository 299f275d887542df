const nearestForms: Readonly<Record<string, string>> = {
  $dynamicRef: 'a "$ref" to the same subschema',
  $recursiveRef: 'a "$ref" to the same subschema',
  contains: '"prefixItems" for the items that have to be there',
  dependencies: '"anyOf" of the cases, each with its own "required"',
  dependentRequired: '"anyOf" of the cases, each with its own "required"',
  dependentSchemas: '"anyOf" of the cases, each with its own "required"',
  if: '"anyOf" of the cases, each with a "const" that tells it apart',
  maxContains: '"prefixItems" for the items that have to be there',
  minContains: '"prefixItems" for the items that have to be there',
  minProperties: '"required" with the names that have to be there',
  multipleOf: 'a smaller divisor, "minimum" and "maximum", or an "enum"',
  not: "a schema of what is allowed",
  oneOf: '"anyOf", or a required member with a different "const" in every branch',
  pattern: "a pattern without back-references, look-behind and inner look-ahead, or a shorter one",
  patternProperties: 'patterns that do not overlap, or "properties" with the names',
  propertyNames: '"properties" with the names',
  unevaluatedItems: '"items" beside "prefixItems"',
  unevaluatedProperties: '"additionalProperties" beside all "properties"',
  uniqueItems: 'items with an "enum" of few values, or a check of your own',
};

/** Returns the nearest form that can be enforced, as a noun. Undefined if none is known. */
export const nearestForm = (keyword: string | null): string | undefined =>
  keyword !== null && Object.hasOwn(nearestForms, keyword) ? nearestForms[keyword] : undefined;
