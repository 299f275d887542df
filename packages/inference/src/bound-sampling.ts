import type { Sampling } from "./engine.ts";

/** Below this temperature, dividing a logit by it can overflow a float. Sampling is greedy there anyway. */
const minTemperature = 1e-4;

/**
 * Below this factor, dividing a logit by it can overflow a float, or outweigh a bias of 100. A smaller one would hardly change
 * a text.
 */
const minRepetitionPenalty = 0.01;

/**
 * Raises sampling values that are too small for an engine. The contract allows values so small that a logit would become
 * infinite; then an engine fails or writes special tokens.
 */
export function boundSampling(sampling: Sampling): Sampling {
  const { temperature, repetition_penalty } = sampling;
  return {
    ...sampling,
    temperature: temperature < minTemperature ? 0 : temperature,
    repetition_penalty: Math.max(minRepetitionPenalty, repetition_penalty),
  };
}
