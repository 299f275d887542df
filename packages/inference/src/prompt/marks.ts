/** The spellings that structure an answer, in the Hermes form that Qwen3 and the demonstration models are taught. */
export const mark = {
  thinkStart: "<think>",
  thinkEnd: "</think>",
  callStart: "<tool_call>",
  callEnd: "</tool_call>",
} as const;

/** What a model has been taught, as far as its template and its vocabulary tell. */
export interface Abilities {
  readonly canThink: boolean;
  readonly canCallTools: boolean;
}

/** @param marks the spellings that are tokens of their own in the model's vocabulary */
export function abilitiesOf(template: string, marks: readonly string[]): Abilities {
  const has = (...spellings: string[]): boolean => spellings.every((spelling) => marks.includes(spelling));
  return {
    canThink: has(mark.thinkStart, mark.thinkEnd) && template.includes("enable_thinking"),
    canCallTools: has(mark.callStart, mark.callEnd) && template.includes("tools"),
  };
}

/**
 * Some vocabularies list white space and HTML as tokens of their own: those are text. What the template writes, and what
 * is spelled with the bars that no text has, means something.
 */
export const isMarkSpelling = (spelling: string, template: string): boolean =>
  Object.values<string>(mark).includes(spelling) ||
  /^<\|.*\|>$/.test(spelling) ||
  (/\S\S/.test(spelling) && template.includes(spelling));
