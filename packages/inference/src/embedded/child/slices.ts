/** A prompt is decoded in slices of this many tokens. Between two slices others get their turn, and a disconnect is noticed. */
export const sliceTokens = 64;

/** Returns the start of the last slice of a prompt. The first token of the answer is sampled when that slice is decoded. */
export const lastSlice = (prompt: readonly number[]): number =>
  Math.max(0, Math.ceil(prompt.length / sliceTokens) - 1) * sliceTokens;

/**
 * Returns how many prompt tokens can be reused from the cache. Only whole slices count: decoding them again would give the
 * same state, so the text does not depend on the reuse.
 * @param known the tokens that the sequence holds
 * @param earlier the number of them that were the prompt
 */
export function sharedSlices(prompt: readonly number[], known: readonly number[], earlier: number): number {
  const most = Math.min(lastSlice(prompt), known.length, earlier);
  let common = 0;
  while (common < most && prompt[common] === known[common]) common += 1;
  return Math.floor(common / sliceTokens) * sliceTokens;
}
