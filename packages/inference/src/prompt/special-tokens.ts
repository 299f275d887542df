/** The spellings that structure an answer, in the Hermes form that Qwen3 and the demonstration models are taught. */
export const specialToken = {
  thinkStart: "<think>",
  thinkEnd: "</think>",
  callStart: "<tool_call>",
  callEnd: "</tool_call>",
} as const;

/** What a model has been taught, as far as its template and its vocabulary tell. */
export interface Capabilities {
  readonly canReason: boolean;
  readonly canCallTools: boolean;
}

/** @param specialTokens the spellings that are tokens of their own in the model's vocabulary */
export function capabilitiesOf(template: string, specialTokens: readonly string[]): Capabilities {
  const has = (...spellings: string[]): boolean => spellings.every((spelling) => specialTokens.includes(spelling));
  return {
    canReason: has(specialToken.thinkStart, specialToken.thinkEnd) && template.includes("enable_thinking"),
    canCallTools: has(specialToken.callStart, specialToken.callEnd) && template.includes("tools"),
  };
}

/**
 * Some vocabularies list white space and HTML as tokens of their own: those are text. What the template writes, and what
 * is spelled with the bars that no text has, means something.
 */
export const isSpecialSpelling = (spelling: string, template: string): boolean =>
  Object.values<string>(specialToken).includes(spelling) ||
  /^<\|.*\|>$/.test(spelling) ||
  (/\S\S/.test(spelling) && template.includes(spelling));
