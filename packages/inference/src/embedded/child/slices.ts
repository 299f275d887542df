/** The prompt is decoded in slices of this many tokens: others take turns between two of them, and a disconnect is noticed. */
export const sliceTokens = 64;

/** Where the last slice of a prompt begins; the first token of the answer is sampled with it. */
export const lastSlice = (prompt: readonly number[]): number =>
  Math.max(0, Math.ceil(prompt.length / sliceTokens) - 1) * sliceTokens;

/**
 * How many tokens of a prompt need not be read again where an earlier one was read. Only whole slices count: they were
 * decoded as they would be decoded again, so that the text does not depend on them.
 * @param known the tokens that the sequence holds
 * @param earlier how many of them were the prompt
 */
export function sharedSlices(prompt: readonly number[], known: readonly number[], earlier: number): number {
  const most = Math.min(lastSlice(prompt), known.length, earlier);
  let common = 0;
  while (common < most && prompt[common] === known[common]) common += 1;
  return Math.floor(common / sliceTokens) * sliceTokens;
}
