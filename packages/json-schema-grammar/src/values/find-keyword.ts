import { joinPath } from "../dialect/raw-schema.ts";
import type { SchemaNode } from "../dialect/schema-node.ts";
import type { Condition } from "./condition.ts";

/** Where the first of the keywords stands among the schemas of a condition, or else the place of the condition. */
export function findKeyword(
  { parts = [] }: Condition,
  keywords: readonly string[],
): { readonly path: string; readonly keyword: string } {
  const seen = new Set(parts.map((part) => part.node));
  // The set grows during the loop.
  for (const node of seen) {
    const words = node.keywords ?? {};
    const keyword = keywords.find((word) => word in words);
    if (keyword !== undefined) return { path: joinPath(node.path, keyword), keyword };
    for (const inner of sameValue(node)) seen.add(inner);
  }
  return { path: parts[0]?.node.path ?? "", keyword: keywords[0] ?? "" };
}

/** The schemas that apply to the same value as this one. */
function sameValue({ keywords = {} }: SchemaNode): SchemaNode[] {
  const { $ref, allOf = [], anyOf = [], oneOf = [], dependentSchemas } = keywords;
  const single = [$ref, keywords.not, keywords.if, keywords.then, keywords.else];
  return [
    ...single.filter((node) => node !== undefined),
    ...allOf,
    ...anyOf,
    ...oneOf,
    ...(dependentSchemas?.values() ?? []),
  ];
}
