/**
 * Explains why `JSON.parse` has refused a body, with the place if V8 names it. The part of the body that V8 quotes after its
 * sentence is left out.
 */
export function explainJson(error: unknown): string {
  const [fault] = (error as SyntaxError).message.split(/, (?:\.{3})?"/, 1); // `JSON.parse` throws nothing else
  return `The body is not valid JSON: ${fault}.`;
}
