import type { EngineMetadata, EngineRequest, PreparedPrompt } from "../engine.ts";
import type { OpenModel } from "../model-folder/open-model.ts";
import type { CacheSalter } from "./cache-salt.ts";
import type { Front } from "./fronts.ts";
import type { Upstream } from "./upstream.ts";

/** A model as an upstream serves it. */
export interface ServedModel {
  readonly model: OpenModel;
  /** The name that the upstream serves it under. */
  readonly servedName: string;
  readonly upstream: Upstream;
  /** Undefined: the operator has turned `cache_salt` off. */
  readonly saltOf: CacheSalter | undefined;
  /** Absent: no other service is between Parley and the upstream. */
  readonly front?: Front;
}

/** The form in which requests are sent to an upstream: as token ids (`completions/`) or as messages (`chat/`). */
export interface ProtocolAdapter {
  /**
   * Renders and counts the prompt of a request. The answer may not fit the context.
   * @param signal governs the answer, too
   * @param maxTokens a prompt with more tokens is not rendered; absent: every prompt is
   * @throws {PromptTooLongError} {EngineError}, or the signal's reason once it has aborted
   */
  prepare(
    served: ServedModel,
    request: EngineRequest,
    signal: AbortSignal,
    maxTokens?: number,
  ): Promise<PreparedPrompt>;
  /**
   * Makes the upstream produce one token. Resolves with the metadata, corrected by the result.
   * @throws {EngineError}
   */
  probeReadiness(served: ServedModel, metadata: EngineMetadata, signal: AbortSignal): Promise<EngineMetadata>;
}
