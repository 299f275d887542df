import type { EngineFacts } from "../engine.ts";
import { generate } from "../vllm/generate.ts";
import type { Served } from "../vllm/generate.ts";
import { probe } from "../vllm/vllm-engine.ts";

/** How a model is asked, and how it is found out that it answers. */
export interface Way {
  readonly generate: typeof generate;
  /** Makes it produce a token, and tells what is known of it then. */
  prove(served: Omit<Served, "limits">, facts: EngineFacts, signal: AbortSignal): Promise<EngineFacts>;
}

/** What vLLM and its routers take. */
export const byTokenIds: Way = {
  generate,
  prove: async (served, facts, signal) => {
    await probe(served, signal);
    return facts;
  },
};
