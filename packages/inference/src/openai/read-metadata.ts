import type { EngineMetadata, Sampling } from "../engine.ts";
import { fingerprint } from "../fingerprint.ts";
import type { OpenModel } from "../model-folder/open-model.ts";
import type { Upstream } from "./upstream.ts";

export interface MetadataOptions {
  readonly model: OpenModel;
  readonly servedName: string;
  readonly slots: number;
  /** Tokens, where the operator wants fewer than the engine can, or knows what nobody else says. */
  readonly contextLength?: number | undefined;
  readonly sampling: Omit<Sampling, "logit_bias">;
  /** The line that shows the model a schema; undefined: none does. */
  readonly schemaPrompt?: string | undefined;
}

/** The engine lists other models than the one that is wanted. */
export class ModelNotListedError extends Error {
  override name = "ModelNotListedError";
}

interface ModelList {
  readonly data?: readonly Listed[];
}

/** What a server lists of a model. */
export interface Listed {
  readonly id: string;
  readonly max_model_len?: number;
  /** `vllm` for vLLM, also behind routers. */
  readonly owned_by?: string;
}

/** What the engine says of itself and what the model's files say. @throws {ModelNotListedError} and what a connection dies of */
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
    context_length: Math.min(...declared),
    quantization: folder.quantization,
    system_fingerprint: fingerprint([
      folder.weightsId,
      version,
      folder.template,
      schemaPrompt ?? "",
      JSON.stringify(sampling),
    ]),
    slots,
    ...folder.capabilities,
    sampling_defaults: sampling,
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

/** Routers have no such path: what they stand for is unknown. */
async function versionOf(upstream: Upstream, signal: AbortSignal): Promise<string> {
  try {
    const answer = JSON.parse(await upstream.read("/version", signal)) as { readonly version?: string };
    return `vLLM ${answer.version}`;
  } catch {
    return "an engine of unknown version";
  }
}
