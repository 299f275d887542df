/** Of a prompt beyond so many contexts it is only found out that it is longer: `exactPromptContexts` of the contract. */
const exactContexts = 2;

/** The tokens of the longest prompt that is counted to its end. @param contextLength undefined as long as it is not known */
export const mostCounted = (contextLength = Number.POSITIVE_INFINITY): number => exactContexts * contextLength;
