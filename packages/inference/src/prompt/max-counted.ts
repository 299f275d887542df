/** The number of contexts up to which a prompt is counted exactly: `exactPromptContexts` of the contract. */
const exactContexts = 2;

/**
 * Returns the number of tokens of the longest prompt that is counted exactly.
 * @param contextLength undefined while it is not known
 */
export const maxCounted = (contextLength = Number.POSITIVE_INFINITY): number => exactContexts * contextLength;
