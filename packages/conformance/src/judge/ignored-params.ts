import type { Answer } from "../wire/answer.ts";
import { must, showHeader } from "./finding.ts";

/** The members that an answer names in x-ignored-params. */
export const ignoredNamesOf = (answer: Answer): string[] =>
  (answer.header("x-ignored-params") ?? "").split(",").filter((name) => name !== "");

/** Demands that an answer names these members in x-ignored-params, perhaps with others. */
export function mustNameIgnored(answer: Answer, ...names: readonly string[]): string {
  const named = ignoredNamesOf(answer);
  const missing = names.filter((name) => !named.includes(name));
  must(
    missing.length === 0,
    answer,
    `the header x-ignored-params with ${names.join(", ")}`,
    showHeader(answer, "x-ignored-params"),
  );
  return `named ${names.join(", ")}`;
}
