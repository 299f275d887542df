import { requestCatalogue, checks, unchecked } from "../clauses/test-groups.ts";
import { clauseOf, document } from "../contract/contract.ts";
import type { RunProfile } from "../profile.ts";
import { toCurl } from "./to-curl.ts";
import { Context } from "../judge/context.ts";
import { valueAt, textAt } from "../judge/read.ts";

/** Everything about one clause that helps to understand a verdict and to comply. */
export function explainClause(id: string, profile: RunProfile, keyVariable: string): string | undefined {
  const clause = clauseOf.get(id);
  if (!clause) return undefined;
  const own = checks.filter((check) => check.clause === id);
  const target = valueAt(document, clause.pointer);
  const description = textAt(target, "/description") ?? textAt(target, "/text");
  const remedy = textAt(target, "/remedy");
  const curl = exampleCurl(id, profile, keyVariable);
  return [
    `${id}  ${clause.keyword}, level ${clause.level}, since ${clause.since}${clause.model === "any" ? "" : `, needs a ${clause.model} model`}`,
    "",
    clause.sentence,
    "",
    `Why it matters: ${clause.why}`,
    ...(clause.openai === undefined ? [] : [`Why any OpenAI-compatible server owes it: ${clause.openai}`]),
    "",
    ...(own.length > 0
      ? own.map(({ how }) => `How it is checked: ${how}`)
      : [`Why there is no check: ${unchecked.find((one) => one.clause === id)?.reason}`]),
    "",
    `Faults that break it: ${clause.faults.map((fault) => fault.replaceAll("-", " ")).join("; ")}.`,
    `How to comply: ${clause.comply}`,
    ...(description === undefined
      ? []
      : [`The contract, at ${clause.pointer}: ${description.replaceAll(/\s+/g, " ").trim()}`]),
    ...(remedy === undefined ? [] : [`The remedy that a caller reads: ${remedy}`]),
    "",
    ...(curl === undefined ? [] : ["Try it:", `  ${curl}`, ""]),
  ].join("\n");
}

/** Returns a curl command with the first request of a clause's checks, if one can be built without an earlier answer. */
export function exampleCurl(id: string, profile: RunProfile, keyVariable: string): string | undefined {
  const context = new Context(
    { ...profile, model: profile.model ?? "MODEL", isExhaustive: true },
    new Map(),
    new Map(),
  );
  const steps = checks.filter((check) => check.clause === id).flatMap(({ uses }) => uses);
  for (const name of [...steps, "plain"]) {
    try {
      const [request] = requestCatalogue.get(name)?.requests(context) ?? [];
      if (request) return toCurl(request, name, profile, { keyVariable });
    } catch {
      // This request is built from an earlier answer. Another step may not be.
    }
  }
  return undefined;
}
