import { neutralSampling } from "./neutral-sampling.ts";
import { EngineError } from "./engine.ts";
import type { EngineEvent, EngineRequest } from "./engine.ts";

/** A request for one greedy token, which proves that an engine really generates. No key is charged for it. */
export const probeRequest: EngineRequest = {
  messages: [{ role: "user", content: "Hello" }],
  tools: [],
  toolChoice: "none",
  parallelToolCalls: false,
  format: { type: "text" },
  grammars: { contentGrammar: undefined, toolGrammar: undefined, enforcedTools: [] },
  shownSchema: undefined,
  isReasoning: false,
  maxTokens: 1,
  n: 1,
  seed: undefined,
  sampling: { ...neutralSampling, temperature: 0, logit_bias: {} },
  stop: [],
  topLogprobs: undefined,
};

/** Reads the answer to a `probeRequest` until its first token. @throws {EngineError} */
export async function expectToken(answer: AsyncIterable<readonly EngineEvent[]>): Promise<void> {
  for await (const events of answer) {
    if (events.some((event) => event.kind === "usage" && event.usage.completionTokens > 0)) return;
  }
  throw new EngineError("protocol", "the probe produced no token");
}
