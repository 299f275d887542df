/**
 * - `breaking`: a caller that keeps to the released contract can meet something that it did not promise
 * - `additive`: more than was promised, and nothing less
 * - `editorial`: other words for the same
 */
export const grades = ["breaking", "additive", "editorial"] as const;
export type Grade = (typeof grades)[number];

/** One difference between the released contract and this one. */
export interface Change {
  readonly grade: Grade;
  /** Where, in words: `POST /v1/chat/completions, request: messages[].name`. */
  readonly place: string;
  /** What is different: `maximum is 1, was 2`. */
  readonly what: string;
}

/** Members that only people read. */
export const isText = (name: string): boolean => texts.has(name);
const ofOpenApi = ["description", "summary", "title", "examples", "example", "externalDocs", "$comment"];
const ofRootWords = ["text", "remedy", "before"];
const texts = new Set([...ofOpenApi, ...ofRootWords]);

/** A value on one line, however long it is. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
