/** The special tokens that structure an answer, in the Hermes format of Qwen3 and the demonstration models. */
export const specialToken = {
  thinkStart: "<think>",
  thinkEnd: "</think>",
  callStart: "<tool_call>",
  callEnd: "</tool_call>",
} as const;

/** The capabilities of a model, according to its template and its vocabulary. */
export interface Capabilities {
  readonly canReason: boolean;
  readonly canCallTools: boolean;
}

/** @param specialTokens the spellings of the model's special tokens */
export function capabilitiesOf(template: string, specialTokens: readonly string[]): Capabilities {
  const has = (...spellings: string[]): boolean => spellings.every((spelling) => specialTokens.includes(spelling));
  return {
    canReason: has(specialToken.thinkStart, specialToken.thinkEnd) && template.includes("enable_thinking"),
    canCallTools: has(specialToken.callStart, specialToken.callEnd) && template.includes("tools"),
  };
}

/**
 * Checks if a token that was added to a vocabulary is special. Some vocabularies add white space and HTML, which are text. A
 * spelling is special if the template contains it or if it has the form `<|…|>`.
 */
export const isSpecialSpelling = (spelling: string, template: string): boolean =>
  Object.values<string>(specialToken).includes(spelling) ||
  /^<\|.*\|>$/.test(spelling) ||
  (/\S\S/.test(spelling) && template.includes(spelling));
