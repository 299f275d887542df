import { probeRequest } from "../../probe.ts";
import { EngineError } from "../../engine.ts";
import type { EngineEvent } from "../../engine.ts";
import type { ConstrainedRequest } from "../../probe.ts";
import type { Capabilities } from "../../prompt/special-tokens.ts";

type Ask = (request: ConstrainedRequest) => AsyncIterable<readonly EngineEvent[]>;

/** Enough for the opening of the reasoning and its first word. */
const reasoningTokens = 16;

/**
 * Finds the capabilities of the model's files that the upstream really has. vLLM parses calls and reasoning only if it was
 * started with parsers for them, and only a trial shows that.
 * @throws {EngineError} if it does not answer at all
 */
export async function probeCapabilities(named: Capabilities, isVllm: boolean, ask: Ask): Promise<Capabilities> {
  return {
    // There is no standard way to switch reasoning on or off elsewhere.
    canReason: named.canReason && isVllm && (await canReasonThere(ask)),
    canCallTools: named.canCallTools && (await takesTools(ask)),
  };
}

async function canReasonThere(ask: Ask): Promise<boolean> {
  for await (const events of ask({ ...probeRequest, isReasoning: true, maxTokens: reasoningTokens })) {
    if (events.some(({ kind }) => kind === "reasoning")) return true;
  }
  return false;
}

const tool = { name: "probe", description: "Does nothing", parameters: { type: "object", properties: {} } };

async function takesTools(ask: Ask): Promise<boolean> {
  try {
    for await (const _events of ask({ ...probeRequest, tools: [tool], toolChoice: "auto" })) break;
    return true;
  } catch (error) {
    if (error instanceof EngineError && error.kind === "rejected") return false;
    throw error;
  }
}
