import { book, checks, unchecked } from "../clauses/test-groups.ts";
import { clauseOf, document } from "../contract/contract.ts";
import type { Profile } from "../profile.ts";
import { toCurl } from "../wire/ask.ts";
import { Context } from "../judge/context.ts";
import { at, textAt } from "../judge/read.ts";

/** Everything about one clause that helps to understand a verdict, and to change it. */
export function explain(id: string, profile: Profile, keyVariable: string): string | undefined {
  const clause = clauseOf.get(id);
  if (!clause) return undefined;
  const own = checks.filter((check) => check.clause === id);
  const target = at(document, clause.pointer);
  const said = textAt(target, "/description") ?? textAt(target, "/text");
  const remedy = textAt(target, "/remedy");
  return [
    `${id}  ${clause.keyword}, level ${clause.level}, since ${clause.since}${clause.model === "any" ? "" : `, needs a ${clause.model} model`}`,
    "",
    clause.sentence,
    "",
    `Why it matters: ${clause.why}`,
    "",
    ...(own.length > 0
      ? own.map(({ how }) => `How it is checked: ${how}`)
      : [`Why there is no check: ${unchecked.find((one) => one.clause === id)?.reason}`]),
    "",
    `What breaks it: ${clause.faults.map((fault) => fault.replaceAll("-", " ")).join("; ")}.`,
    `How to comply: ${clause.comply}`,
    ...(said === undefined ? [] : [`The contract, at ${clause.pointer}: ${said.replaceAll(/\s+/g, " ").trim()}`]),
    ...(remedy === undefined ? [] : [`What a caller is told: ${remedy}`]),
    "",
    ...curlsFor(
      own.flatMap(({ uses }) => uses),
      profile,
      keyVariable,
    ),
  ].join("\n");
}

function curlsFor(steps: readonly string[], profile: Profile, keyVariable: string): string[] {
  const context = new Context({ ...profile, model: profile.model ?? "MODEL", isThorough: true }, new Map(), new Map());
  for (const name of [...steps, "plain"]) {
    try {
      const [ask] = book.get(name)?.asks(context) ?? [];
      if (ask) return ["Try it:", `  ${toCurl(ask, profile.origin, keyVariable)}`, ""];
    } catch {
      // It is built from an answer that nobody has here; another step may not be.
    }
  }
  return [];
}
