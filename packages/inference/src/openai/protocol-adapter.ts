import type { Limits } from "../answer/assert-fits.ts";
import type { EngineEvent, EngineMetadata, EngineRequest } from "../engine.ts";
import type { OpenModel } from "../model-folder/open-model.ts";
import type { CacheSalter } from "./cache-salt.ts";
import type { Upstream } from "./upstream.ts";

/** A model as an upstream serves it. */
export interface ServedModel {
  readonly model: OpenModel;
  /** The name that the upstream serves it under. */
  readonly servedName: string;
  readonly upstream: Upstream;
  /** Undefined: the operator has turned `cache_salt` off. */
  readonly saltOf: CacheSalter | undefined;
}

/** The form in which requests are sent to an upstream: as token ids (`completions/`) or as messages (`chat/`). */
export interface ProtocolAdapter {
  /** @throws {EngineError}, or the signal's reason once it has aborted */
  generate(
    served: ServedModel,
    limits: Limits,
    request: EngineRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly EngineEvent[]>;
  /**
   * Makes the upstream produce one token. Resolves with the metadata, corrected by the result.
   * @throws {EngineError}
   */
  probeReadiness(served: ServedModel, metadata: EngineMetadata, signal: AbortSignal): Promise<EngineMetadata>;
}
