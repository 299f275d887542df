import type { z } from "zod";
import type { Given } from "./collect-values.ts";
import { secretNames, settingsBelow } from "./config-schema.ts";
import { suggest } from "./suggest.ts";

/** Returns a sentence for each fault of a value. It names the source of the value, and says what to write instead. */
export function explainIssue(issue: z.core.$ZodIssue, given: Given): string[] {
  const { path } = issue;
  if (issue.code === "unrecognized_keys") {
    const known = settingsBelow(path);
    return issue.keys.map(
      (key) => `parley.yaml: ${pathText([...path, key])} is not a setting${didYouMean(key, known)}`,
    );
  }
  if (issue.code === "invalid_key")
    return [`parley.yaml: the name ${pathText(path)} must be ${issue.issues[0]?.message}`];
  const shown = secretNames.has(String(path[0])) ? "the value given" : JSON.stringify(valueAt(given.document, path));
  return [`${labelOf(path, given)} must be ${issue.message}, not ${shown}`];
}

function didYouMean(key: string, known: readonly string[]): string {
  const meant = suggest(key, known);
  return meant === undefined ? "" : `: did you mean ${meant}?`;
}

/** Returns the source of a value: `PORT` or `--port`, or its path in the file. */
function labelOf(path: readonly PropertyKey[], { labels }: Given): string {
  for (let length = path.length; length > 0; length -= 1) {
    const label = labels.get(path.slice(0, length).join("."));
    if (label !== undefined) return label;
  }
  return `parley.yaml: ${pathText(path)}`;
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}${text && "."}${String(key)}`),
    "",
  );

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value); // the issue is at this path
