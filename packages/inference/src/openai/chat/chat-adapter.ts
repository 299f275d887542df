import { EngineError } from "../../engine.ts";
import type { EngineEvent, EngineMetadata, EngineRequest, PreparedPrompt } from "../../engine.ts";
import { expectToken, probeRequest, streamAtOnce } from "../../probe.ts";
import type { ConstrainedRequest } from "../../probe.ts";
import { findSystemPlacement } from "../../prompt/system-placement.ts";
import type { Capabilities } from "../../prompt/special-tokens.ts";
import type { ProtocolAdapter, ServedModel } from "../protocol-adapter.ts";
import { tryPromptCache, unsalted, withPromptCache } from "../cache-salt.ts";
import { readListed } from "../read-metadata.ts";
import { findBeyondOpenAi, namesBeyondOpenAi } from "./chat-body.ts";
import type { ChatDialect } from "./chat-body.ts";
import { prepareChat } from "./prepare-chat.ts";
import { probeCapabilities } from "./probe-capabilities.ts";

/** Sends requests as messages to a service that has only a chat route. */
export class ChatAdapter implements ProtocolAdapter {
  /** Undefined until the service was asked for its metadata. */
  #dialect: ChatDialect | undefined;
  readonly #isAlwaysSalted: boolean;

  /** @param isAlwaysSalted true: `cache_salt` is sent even if the service is not vLLM */
  constructor(isAlwaysSalted: boolean) {
    this.#isAlwaysSalted = isAlwaysSalted;
  }

  async prepare(
    served: ServedModel,
    request: EngineRequest,
    signal: AbortSignal,
    maxTokens?: number,
  ): Promise<PreparedPrompt> {
    if (!this.#dialect) throw new EngineError("unavailable", "the engine was not probed yet");
    return prepareChat({ ...served, dialect: this.#dialect }, request, signal, maxTokens);
  }

  async probeReadiness(served: ServedModel, metadata: EngineMetadata, signal: AbortSignal): Promise<EngineMetadata> {
    const { owned_by } = await readListed(served.upstream, served.servedName, signal);
    const { capabilities: named } = served.model.folder;
    const isVllm = owned_by === "vllm";
    const unheard = isVllm ? undefined : findBeyondOpenAi(metadata.samplingDefaults);
    if (unheard !== undefined) throw new Error(`the engine has no ${unheard}, and it is set for every request`);
    const systemPlacement = findSystemPlacement(served.model.folder);
    const isSalted = served.saltOf !== undefined && (isVllm || this.#isAlwaysSalted);
    const hasReasoningSwitch = named.canReason;
    const untried = { isVllm, capabilities: named, isSalted, hasReasoningSwitch, systemPlacement };
    const ask = (request: ConstrainedRequest): AsyncIterable<readonly EngineEvent[]> =>
      streamAtOnce((asked) => prepareChat({ ...served, dialect: untried }, asked, signal), request);
    await expectToken(ask(probeRequest));
    const capabilities = await probeCapabilities(named, isVllm, ask);
    const promptCache = isSalted ? await tryPromptCache(metadata.contextLength, ask) : unsalted;
    this.#dialect = { ...untried, capabilities };
    const known = {
      ...metadata,
      ...capabilities,
      schemaPrompt: undefined, // the upstream makes the prompt
      ...(!isVllm && { unsupportedSampling: namesBeyondOpenAi }),
      description: `${metadata.description}, over its chat route${missing(named, capabilities)}`,
    };
    return withPromptCache(known, promptCache);
  }
}

/** Reports missing capabilities to the operator, who can start vLLM with other flags. */
function missing(named: Capabilities, { canReason, canCallTools }: Capabilities): string {
  const lost = [named.canReason && !canReason ? "thinking" : "", named.canCallTools && !canCallTools ? "calls" : ""];
  const words = lost.filter((word) => word !== "").join(" and ");
  return words === "" ? "" : `, which does not read ${words}`;
}
