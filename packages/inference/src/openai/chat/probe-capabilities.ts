import { probeRequest } from "../../probe.ts";
import { EngineError } from "../../engine.ts";
import type { EngineEvent, EngineRequest } from "../../engine.ts";
import type { Capabilities } from "../../prompt/special-tokens.ts";

type Ask = (request: EngineRequest) => AsyncIterable<EngineEvent>;

/** Enough for the form of a thought and its first word. */
const thoughtTokens = 16;

/**
 * What the other side really does of what the model's files say. vLLM reads calls and thoughts only where it was started with
 * parsers for them, and nothing but trying tells.
 * @throws {EngineError} where it does not answer at all
 */
export async function probeCapabilities(named: Capabilities, isVllm: boolean, ask: Ask): Promise<Capabilities> {
  return {
    // Of others nobody knows how they are told to think, or not to.
    canReason: named.canReason && isVllm && (await thinks(ask)),
    canCallTools: named.canCallTools && (await takesTools(ask)),
  };
}

async function thinks(ask: Ask): Promise<boolean> {
  for await (const event of ask({ ...probeRequest, isReasoning: true, max_tokens: thoughtTokens })) {
    if (event.kind === "reasoning") return true;
  }
  return false;
}

const tool = { name: "probe", description: "Does nothing", parameters: { type: "object", properties: {} } };

async function takesTools(ask: Ask): Promise<boolean> {
  try {
    for await (const _event of ask({ ...probeRequest, tools: [tool], tool_choice: "auto" })) break;
    return true;
  } catch (error) {
    if (error instanceof EngineError && error.kind === "rejected") return false;
    throw error;
  }
}
