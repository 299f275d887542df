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

type Ask = (request: ConstrainedRequest) => AsyncIterable<readonly EngineEvent[]>;

/** Enough for the opening of the reasoning and its first word. */
const reasoningTokens = 16;

/**
 * Finds the capabilities of the model's files that the upstream really has. vLLM parses calls and reasoning only if it was
 * started with parsers for them, and only a trial shows that.
 * @throws {EngineError} if it does not answer at all
 */
async function probeCapabilities(named: Capabilities, isVllm: boolean, ask: Ask): Promise<Capabilities> {
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
