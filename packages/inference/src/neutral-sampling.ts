import type { Sampling } from "./engine.ts";

/** Sampling values that leave a model's own distribution as it is. */
export const neutralSampling: Omit<Sampling, "logit_bias"> = {
  temperature: 1,
  top_p: 1,
  top_k: 0,
  min_p: 0,
  frequency_penalty: 0,
  presence_penalty: 0,
  repetition_penalty: 1,
};
