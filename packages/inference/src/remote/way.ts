import type { EngineMetadata } from "../engine.ts";
import { generate } from "../vllm/generate.ts";
import type { Served } from "../vllm/generate.ts";
import { probe } from "../vllm/vllm-engine.ts";

/** How a model is asked, and how it is found out that it answers. */
export interface Way {
  readonly generate: typeof generate;
  /** Makes it produce a token, and tells what is known of it then. */
  prove(served: Omit<Served, "limits">, metadata: EngineMetadata, signal: AbortSignal): Promise<EngineMetadata>;
}

/** What vLLM and its routers take. */
export const byTokenIds: Way = {
  generate,
  prove: async (served, metadata, signal) => {
    await probe(served, signal);
    return metadata;
  },
};
