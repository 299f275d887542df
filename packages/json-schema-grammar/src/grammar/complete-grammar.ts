import { usualDigits } from "../language/digits.ts";

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
integer ::= "-"? ("0" | [1-9] [0-9]{0,${usualDigits.integer - 1}})
number ::= integer ("." [0-9]{1,${usualDigits.fraction}})? ([eE] [-+]? [0-9]{1,2})?
boolean ::= "true" | "false"
null ::= "null"
any ::= any-object | any-array | string | number | boolean | null
any-object ::= "{" (any-member ("," sp any-member)*)? "}"
any-member ::= string ":" sp any
any-array ::= "[" (any ("," sp any)*)? "]"
`.trim();

/** GBNF for any JSON object: `response_format: {type: "json_object"}`. */
export const anyObjectGrammar = `root ::= any-object\n${commonRules}\n`;

/** GBNF for a JSON text that satisfies a schema. @param compiled by `compileRules` */
export const completeGrammar = ({ rules, start }: SchemaRules): string =>
  [`root ::= ${start}`, ...(rules === "" ? [] : [rules]), commonRules, ""].join("\n");

/** The rules of a schema, and the name of the one for the whole value. */
interface SchemaRules {
  readonly rules: string;
  readonly start: string;
}

/** A function that a model may call. */
export interface CallableTool {
  readonly name: string;
  /**
   * The rules of the parameters, with another prefix for each schema. `any`: the arguments are any object. Undefined: the
   * function takes no arguments.
   */
  readonly parameters: SchemaRules | "any" | undefined;
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
