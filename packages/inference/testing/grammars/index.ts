export { openGrammarMatcher } from "./match-grammar.ts";
export type { Accepts } from "./match-grammar.ts";
