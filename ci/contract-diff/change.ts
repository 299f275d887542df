/**
 * - `breaking`: a caller that follows the released contract can get something that the contract did not promise
 * - `additive`: the contract promises more than before, and nothing less
 * - `editorial`: the contract says the same in other words
 */
export const grades = ["breaking", "additive", "editorial"] as const;
export type Grade = (typeof grades)[number];

/** One difference between the released contract and this one. */
export interface Change {
  readonly grade: Grade;
  /** Where it is, in words: `POST /v1/chat/completions, request: messages[].name`. */
  readonly place: string;
  /** The difference: `maximum is 1, was 2`. */
  readonly what: string;
}

/** Recognises members that are only for human readers. */
export const isText = (name: string): boolean => texts.has(name);
const openApiTexts = ["description", "summary", "title", "examples", "example", "externalDocs", "$comment"];
const rootWordTexts = ["text", "remedy", "before"];
const texts = new Set([...openApiTexts, ...rootWordTexts]);

/** Prints a value on one line. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
