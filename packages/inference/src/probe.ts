import { neutralSampling } from "./neutral-sampling.ts";
import { EngineError } from "./engine.ts";
import type { Constraints, EngineEvent, EngineRequest, PreparedPrompt } from "./engine.ts";

/** A request that needs no admission. */
export type ConstrainedRequest = EngineRequest & Constraints;

/** Prepares a request and streams its answer, without an admission in between. */
export async function* streamAtOnce(
  prepare: (request: EngineRequest) => Promise<PreparedPrompt>,
  request: ConstrainedRequest,
): AsyncGenerator<readonly EngineEvent[]> {
  const prepared = await prepare(request);
  yield* prepared.stream(request);
}

/** A request for one greedy token, which proves that an engine really generates. No key is charged for it. */
export const probeRequest: ConstrainedRequest = {
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
