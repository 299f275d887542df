import type { ComplexityBudget } from "../complexity-budget.ts";
import { searchAutomaton } from "./determinize.ts";
import { anything, formOf, formOfRepeat, intersectForms, nothing, subtractForms, uniteForms } from "./form.ts";
import type { Form } from "./form.ts";
import { parsePattern } from "./parse-pattern.ts";
import type { Expression } from "./parse-pattern.ts";
import { repeatOfPattern } from "./repeat.ts";

/**
 * The texts in which a pattern matches somewhere.
 * @throws {UnenforceablePatternError}
 */
export function patternForm(source: string, budget: ComplexityBudget): Form {
  budget.spend(64 + source.length);
  return search(parsePattern(source), budget);
}

function search(expression: Expression, budget: ComplexityBudget): Form {
  if (expression.kind === "choice" && expression.options.some(hasLookahead)) {
    const options = expression.options.map((option) => search(option, budget));
    return options.reduce((all, option) => uniteForms(all, option, budget), nothing);
  }
  if (expression.kind === "sequence" && hasLookahead(expression))
    return searchAfterLookaheads(expression.items, budget);
  const repeat = repeatOfPattern(expression);
  return repeat ? formOfRepeat(repeat) : formOf(searchAutomaton(expression, budget), budget);
}

const start: Expression = { kind: "assertion", what: "start" };

function hasLookahead(expression: Expression): boolean {
  return expression.kind === "sequence" && expression.items[1]?.kind === "lookahead" && isStart(expression.items[0]);
}

const isStart = (expression: Expression | undefined): boolean =>
  expression?.kind === "assertion" && expression.what === "start";

/** `^(?=a)(?!b)c`: what matches `^c` and `^a`, but not `^b`. */
function searchAfterLookaheads(items: readonly Expression[], budget: ComplexityBudget): Form {
  const count = items.slice(1).findIndex(({ kind }) => kind !== "lookahead");
  const rest = count === -1 ? [] : items.slice(1 + count);
  const lookaheads = items.slice(1, count === -1 ? undefined : 1 + count);
  const body = rest.length === 0 ? anything : search({ kind: "sequence", items: [start, ...rest] }, budget);
  return lookaheads.reduce((texts, lookahead) => {
    if (lookahead.kind !== "lookahead") return texts;
    const ahead = search({ kind: "sequence", items: [start, lookahead.item] }, budget);
    return lookahead.isNegated ? subtractForms(texts, ahead, budget) : intersectForms(texts, ahead, budget);
  }, body);
}
