import type { Sampling } from "./engine.ts";

/** Below this temperature, dividing a logit by it can overflow a float. Sampling is greedy there anyway. */
const minTemperature = 1e-4;

/** Below this factor, dividing a logit by it can overflow a float, or outweigh a bias of 100. A smaller one would hardly change a text. */
const minRepetitionPenalty = 0.01;

/**
 * Returns the values with which any engine can sample: the contract allows some that are so small that a logit would become
 * infinite, and then an engine fails or writes special tokens.
 */
export function boundSampling(sampling: Sampling): Sampling {
  const { temperature, repetition_penalty } = sampling;
  return {
    ...sampling,
    temperature: temperature < minTemperature ? 0 : temperature,
    repetition_penalty: Math.max(minRepetitionPenalty, repetition_penalty),
  };
}
