import { quote, writeLiteralTree } from "./literal-tree.ts";
import { assertFewReadings } from "./readings.ts";
import { writeRuleBook } from "./rule-book.ts";
import type { Conjunction, Schema } from "./schema-node.ts";
import type { Member, Shape } from "./shape.ts";
import { SchemaTooComplex } from "./complexity-budget.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

/**
 * The rules every grammar shares. White space is at most one blank after `:` and `,`: a small model that may write any
 * white space fills its whole answer with it. Digits are bounded for the same reason. An escape never stands for half a
 * character: JSON would allow it, and many readers of JSON would not.
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

/** GBNF for a JSON text, given the rules of a schema with the prefix "value". */
export const answerGrammar = (rules: string): string => `root ::= value-0\n${rules}\n${commonRules}\n`;

export interface CallableTool {
  readonly name: string;
  /** The rules of the parameters with the prefix `tool-` and its place; `any`: some object; undefined: no arguments. */
  readonly parameters: { readonly rules: string } | "any" | undefined;
}

/**
 * GBNF for the body of one tool call, `{"name": …, "arguments": …}`, of any of the given functions. The line break behind it is
 * part of it: models have tokens that hold the last braces and the break, and shut out of them some never close the last string.
 */
export function toolCallGrammar(tools: readonly CallableTool[]): string {
  const calls = tools.map(({ name, parameters }, index) => {
    const start = String.raw`"${name}\", \"arguments\": "`;
    if (parameters === undefined) return `${start} "{}"`;
    return parameters === "any" ? `${start} any-object` : `${start} tool-${index}-0`;
  });
  const bodies = tools.flatMap(({ parameters }) => (typeof parameters === "object" ? [parameters.rules] : []));
  return [String.raw`root ::= "{\"name\": \"" (${calls.join(" | ")}) "}\n"`, ...bodies, commonRules, ""].join("\n");
}

/** Beyond this a grammar takes llama.cpp longer to read than an answer takes to write. */
const mostCharacters = 1_000_000;

/**
 * The rules whose every text is compact JSON that satisfies the schemas; the first is `PREFIX-0`. Not every such value
 * can be written: members come in the declared order, after those that tell alternatives apart, and undeclared ones
 * only where none is declared.
 * @param root what `$ref` looks into
 * @throws {SchemaTooComplex} {UnsatisfiableSchema}
 */
export function writeRules(conjunction: Conjunction, root: Schema, prefix: string, budget: ComplexityBudget): string {
  const book = writeRuleBook(conjunction, root, budget);
  assertFewReadings(book, budget);
  const lines = book.rules.flatMap((shapes, rule) =>
    shapes.length > 0 ? writeRule(shapes, `${prefix}-${rule}`, prefix) : [],
  );
  const text = lines.join("\n");
  if (text.length > mostCharacters)
    throw new SchemaTooComplex(`the grammar of the schema has more than ${mostCharacters} characters`);
  return text;
}

function writeRule(shapes: readonly Shape[], name: string, prefix: string): string[] {
  const literals = shapes.flatMap((shape) => (shape.kind === "literal" ? [JSON.stringify(shape.value)] : []));
  const extra: string[] = [];
  const others = shapes.flatMap((shape, index) => {
    if (shape.kind === "literal") return [];
    if (shape.kind === "any") return ["any"];
    if (shape.kind === "scalar") return [shape.type];
    if (shape.kind === "array") return [list("[", `${prefix}-${shape.item}`, "]")];
    if (shape.rest !== undefined) return [list("{", `string ":" sp ${prefix}-${shape.rest}`, "}")];
    extra.push(...writeMembers(shape.members, `${name}-${index}`, prefix));
    return [`"{" ${name}-${index}-first-0 "}"`];
  });
  const written = literals.length > 0 ? [writeLiteralTree(literals).grammar, ...others] : others;
  return [`${name} ::= ${written.join(" | ")}`, ...extra];
}

const list = (open: string, item: string, close: string): string => `"${open}" (${item} ("," sp ${item})*)? "${close}"`;

/**
 * Members in order, optional ones left out at will. Two chains of rules, so that the comma is right: `first-i` is what
 * may follow when no member has been written before the i-th, `next-i` when one has.
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
