import { EngineError } from "../../engine.ts";
import type { EngineMetadata } from "../../engine.ts";
import type { Capabilities } from "../../prompt/special-tokens.ts";
import { readListed } from "../../vllm/facts.ts";
import type { Served, generate } from "../../vllm/generate.ts";
import { probe } from "../../vllm/vllm-engine.ts";
import type { Way } from "../way.ts";
import { findBeyondOpenAi, namesBeyondOpenAi } from "./chat-body.ts";
import type { ChatDialect } from "./chat-body.ts";
import { generateChat } from "./generate-chat.ts";
import { tryCapabilities } from "./try-abilities.ts";

/** By messages, to a service that has only a chat route. */
export class ChatWay implements Way {
  /** Undefined until it was asked what it is. */
  #dialect: ChatDialect | undefined;

  readonly generate: typeof generate = (served, request, signal) => {
    if (!this.#dialect) throw new EngineError("unavailable", "the engine was not asked yet");
    return generateChat(this.#dialect, served, request, signal);
  };

  async prove(served: Omit<Served, "limits">, metadata: EngineMetadata, signal: AbortSignal): Promise<EngineMetadata> {
    const { owned_by } = await readListed(served.upstream, served.servedName, signal);
    const { capabilities: named } = served.model.folder;
    const isVllm = owned_by === "vllm";
    const unheard = isVllm ? undefined : findBeyondOpenAi(metadata.sampling_defaults);
    if (unheard !== undefined) throw new Error(`the engine has no ${unheard}, and it is set for every request`);
    const untried: ChatDialect = { isVllm, capabilities: named, hasReasoningSwitch: named.canReason };
    const ask = ((...asked) => generateChat(untried, ...asked)) satisfies typeof generate;
    await probe(served, signal, ask);
    const limits = undefined;
    const capabilities = await tryCapabilities(named, isVllm, (request) => ask({ ...served, limits }, request, signal));
    this.#dialect = { ...untried, capabilities };
    return {
      ...metadata,
      ...capabilities,
      ...(!isVllm && { unsupportedSampling: namesBeyondOpenAi }),
      description: `${metadata.description}, over its chat route${missing(named, capabilities)}`,
    };
  }
}

/** For the operator, who can start it otherwise. */
function missing(named: Capabilities, { canReason, canCallTools }: Capabilities): string {
  const lost = [named.canReason && !canReason ? "thinking" : "", named.canCallTools && !canCallTools ? "calls" : ""];
  const words = lost.filter((word) => word !== "").join(" and ");
  return words === "" ? "" : `, which does not read ${words}`;
}
