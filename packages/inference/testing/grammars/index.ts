export { acceptsInSomeOrder } from "./any-order.ts";
export { GrammarWalk, isDead } from "./grammar-walk.ts";
export type { Position } from "./grammar-walk.ts";
export { openGrammarMatcher } from "./match-grammar.ts";
export type { Accepts } from "./match-grammar.ts";
export { readGbnf } from "./read-gbnf.ts";
export type { Grammar } from "./read-gbnf.ts";
export { GrammarSampler, randomFrom } from "./sample-grammar.ts";
