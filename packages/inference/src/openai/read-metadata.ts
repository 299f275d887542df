import type { EngineMetadata, Sampling } from "../engine.ts";
import { fingerprint } from "../fingerprint.ts";
import type { OpenModel } from "../model-folder/open-model.ts";
import type { Upstream } from "./upstream.ts";

export interface MetadataOptions {
  readonly model: OpenModel;
  readonly servedName: string;
  readonly slots: number;
  /** The context length in tokens, if the operator wants less than the engine offers, or if no other source gives it. */
  readonly contextLength?: number | undefined;
  readonly sampling: Omit<Sampling, "logit_bias">;
  /** The prompt line that shows the model a schema; undefined: schemas are not shown. */
  readonly schemaPrompt?: string | undefined;
}

/** The engine does not list the requested model. */
class ModelNotListedError extends Error {
  override name = "ModelNotListedError";
}

interface ModelList {
  readonly data?: readonly Listed[];
}

/** The entry of a model in a server's list. */
export interface Listed {
  readonly id: string;
  readonly max_model_len?: number;
  /** `vllm` for vLLM, also behind routers. */
  readonly owned_by?: string;
}

/**
 * Combines the metadata that the engine reports with that of the model's files.
 * @throws {ModelNotListedError}, or the error of the connection
 */
export async function readMetadata(
  upstream: Upstream,
  options: MetadataOptions,
  signal: AbortSignal,
): Promise<EngineMetadata> {
  const { model, servedName, slots, contextLength, sampling, schemaPrompt } = options;
  const entry = await readListed(upstream, servedName, signal);
  const version = await versionOf(upstream, signal);
  const { folder } = model;
  const declared = [entry.max_model_len, folder.declaredContext, contextLength].filter(
    (length) => length !== undefined,
  );
  if (declared.length === 0)
    throw new Error(
      `neither the engine nor the files of ${servedName} say how long its context is: set its context_length`,
    );
  return {
    contextLength: Math.min(...declared),
    quantization: folder.quantization,
    systemFingerprint: fingerprint([
      folder.weightsId,
      version,
      folder.template,
      schemaPrompt ?? "",
      JSON.stringify(sampling),
    ]),
    slots,
    ...folder.capabilities,
    samplingDefaults: sampling,
    schemaPrompt,
    description: `${version}, at most ${slots} choices at the same time`,
  };
}

/** @throws {ModelNotListedError} */
export async function readListed(upstream: Upstream, servedName: string, signal: AbortSignal): Promise<Listed> {
  const list = JSON.parse(await upstream.read("/v1/models", signal)) as ModelList; // as documented by OpenAI
  const entry = list.data?.find(({ id }) => id === servedName);
  if (entry) return entry;
  const listed = (list.data ?? []).map(({ id }) => id).join(", ");
  throw new ModelNotListedError(`the engine does not serve ${servedName}, it lists: ${listed || "nothing"}`);
}

/** Routers do not have this path, so the version behind them is unknown. */
async function versionOf(upstream: Upstream, signal: AbortSignal): Promise<string> {
  try {
    const answer = JSON.parse(await upstream.read("/version", signal)) as { readonly version?: string };
    return `vLLM ${answer.version}`;
  } catch {
    return "an engine of unknown version";
  }
}
