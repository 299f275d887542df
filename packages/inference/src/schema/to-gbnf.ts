import { quote, writeLiteralTrie } from "./literal-trie.ts";
import { assertFewParseAlternatives } from "./parse-alternatives.ts";
import { compileGrammar } from "./compile-grammar.ts";
import type { Conjunction, Schema } from "./schema-node.ts";
import type { Member, GrammarNode } from "./grammar-node.ts";
import { SchemaTooComplex } from "./complexity-budget.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

/**
 * The rules that all grammars share. White space is at most one blank after `:` and `,`: a small model that is allowed any
 * white space may fill its whole answer with it. The number of digits is limited for the same reason. An escape must not
 * be half of a surrogate pair: JSON allows that, but many JSON parsers reject it.
 */
const commonRules = String.raw`
sp ::= " "?
hex ::= [0-9a-fA-F]
unicode ::= ([0-9a-cA-CefEF] hex | [dD] [0-7]) hex hex | [dD] [89abAB] hex hex "\\u" [dD] [c-fC-F] hex hex
char ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" unicode)
string ::= "\"" char* "\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,14})
number ::= integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?
boolean ::= "true" | "false"
null ::= "null"
any ::= any-object | any-array | string | number | boolean | null
any-object ::= "{" (any-member ("," sp any-member)*)? "}"
any-member ::= string ":" sp any
any-array ::= "[" (any ("," sp any)*)? "]"
`.trim();

/** GBNF for any JSON object: `response_format: {type: "json_object"}`. */
export const anyObjectGrammar = `root ::= any-object\n${commonRules}\n`;

/** GBNF for a JSON text. @param rules of a schema, with the prefix `value` */
export const answerGrammar = (rules: string): string => `root ::= value-0\n${rules}\n${commonRules}\n`;

export interface CallableTool {
  readonly name: string;
  /**
   * The rules of the parameters and the name of the first one, both of their own for every schema. `any`: the arguments are
   * any object. Undefined: the function takes no arguments.
   */
  readonly parameters: { readonly rules: string; readonly start: string } | "any" | undefined;
}

/**
 * GBNF for the body of one call, `{"name": …, "arguments": …}`, to any of the given functions. It includes the line break
 * after the body: some models have a token that holds the last braces and the line break. Without that token some of them
 * never close the last string.
 */
export function toolCallGrammar(tools: readonly CallableTool[]): string {
  const calls = tools.map(({ name, parameters }) => {
    const start = String.raw`"${name}\", \"arguments\": "`;
    if (parameters === undefined) return `${start} "{}"`;
    return parameters === "any" ? `${start} any-object` : `${start} ${parameters.start}`;
  });
  const bodies = new Set(tools.flatMap(({ parameters }) => (typeof parameters === "object" ? [parameters.rules] : [])));
  return [String.raw`root ::= "{\"name\": \"" (${calls.join(" | ")}) "}\n"`, ...bodies, commonRules, ""].join("\n");
}

/** llama.cpp needs longer to parse a larger grammar than to generate an answer. */
const mostCharacters = 1_000_000;

/**
 * GBNF rules for compact JSON that satisfies all of the schemas; the first rule is `PREFIX-0`. Every text that they allow
 * is valid, but they do not allow every valid text: members that tell alternatives apart come first, then the others in
 * the declared order, and undeclared members are allowed only where none is declared.
 * @param root the document that `$ref` points into
 * @throws {SchemaTooComplex} {UnsatisfiableSchema}
 */
export function writeRules(conjunction: Conjunction, root: Schema, prefix: string, budget: ComplexityBudget): string {
  const grammar = compileGrammar(conjunction, root, budget);
  assertFewParseAlternatives(grammar, budget);
  const lines = grammar.rules.flatMap((nodes, rule) =>
    nodes.length > 0 ? writeRule(nodes, `${prefix}-${rule}`, prefix) : [],
  );
  const text = lines.join("\n");
  if (text.length > mostCharacters)
    throw new SchemaTooComplex(`the grammar of the schema has more than ${mostCharacters} characters`);
  return text;
}

function writeRule(nodes: readonly GrammarNode[], name: string, prefix: string): string[] {
  const literals = nodes.flatMap((node) => (node.kind === "literal" ? [JSON.stringify(node.value)] : []));
  const extra: string[] = [];
  const options = nodes.flatMap((node, index) => {
    if (node.kind === "literal") return [];
    if (node.kind === "any") return ["any"];
    if (node.kind === "scalar") return [node.type];
    if (node.kind === "array") return [list("[", `${prefix}-${node.item}`, "]")];
    if (node.rest !== undefined) return [list("{", `string ":" sp ${prefix}-${node.rest}`, "}")];
    extra.push(...writeMembers(node.members, `${name}-${index}`, prefix));
    return [`"{" ${name}-${index}-first-0 "}"`];
  });
  const written = literals.length > 0 ? [writeLiteralTrie(literals).grammar, ...options] : options;
  return [`${name} ::= ${written.join(" | ")}`, ...extra];
}

const list = (open: string, item: string, close: string): string => `"${open}" (${item} ("," sp ${item})*)? "${close}"`;

/**
 * The members in order; optional ones may be left out. Two chains of rules place the commas: `first-i` is what may follow
 * when no member has been written before the i-th, `next-i` when at least one has.
 */
function writeMembers(members: readonly Member[], name: string, prefix: string): string[] {
  const lines: string[] = [];
  let canBeFirst = true;
  for (const [index, member] of members.entries()) {
    const pair = `${quote(JSON.stringify(member.name))} ":" sp ${prefix}-${member.rule} ${name}-next-${index + 1}`;
    const skip = (chain: string): string => (member.isRequired ? "" : ` | ${name}-${chain}-${index + 1}`);
    if (canBeFirst) lines.push(`${name}-first-${index} ::= ${pair}${skip("first")}`);
    if (index > 0) lines.push(`${name}-next-${index} ::= "," sp ${pair}${skip("next")}`);
    canBeFirst &&= !member.isRequired;
  }
  if (canBeFirst) lines.push(`${name}-first-${members.length} ::= ""`);
  if (members.length > 0) lines.push(`${name}-next-${members.length} ::= ""`);
  return lines;
}
