import type { OutputToken } from "../engine.ts";

/** A token that the model has chosen. */
export interface SampledToken {
  readonly id: number;
  /** Natural logarithm, at most 0; present only where log-probabilities were asked for. */
  readonly logprob?: number;
  /** The most likely tokens in falling order. */
  readonly top?: readonly { readonly id: number; readonly logprob: number }[];
}

/**
 * Returns the token as the answer reports it.
 * @param describe the text and bytes of a token id
 * @param topCount alternatives to report
 */
export function toOutputToken(
  describe: (id: number) => OutputToken,
  { id, logprob, top = [] }: SampledToken,
  topCount = 0,
): OutputToken {
  const token = describe(id);
  if (logprob === undefined) return token;
  const alternatives = top.slice(0, topCount).map((one) => {
    const { token: text, bytes } = describe(one.id);
    return { token: text, bytes, logprob: one.logprob };
  });
  return { ...token, logprob, top: alternatives };
}
