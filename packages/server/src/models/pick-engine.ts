import type { EngineMetadata } from "@parley/inference";
import type { Caller } from "../accounts/keys/caller.ts";
import { findModel, suggestIds } from "../config/find-model.ts";
import { ApiError } from "../errors/api-error.ts";
import type { ServedModel } from "./served-model.ts";

/** The served models, in the order of the listing. */
export type ServedModels = readonly ServedModel[];

/** Returns the models that the caller's key may use. */
export const modelsFor = (models: ServedModels, caller: Caller): ServedModel[] =>
  models.filter((model) => caller.models === undefined || caller.models.has(model.id));

/**
 * Finds a model among those of the caller's key. Other models affect neither the meaning of a short name nor the error
 * message.
 * @throws {ApiError} 404 `model_not_found`
 */
export function pickModel(models: ServedModels, caller: Caller, name: string): ServedModel {
  const offered = modelsFor(models, caller);
  const model = findModel(offered, name);
  if (model) return model;
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  const said = `The model ${JSON.stringify(shown)} does not exist or is not for this key.`;
  const sentences = [said, suggestIds(offered, name), "GET /v1/models lists those that are."];
  throw new ApiError("model_not_found", sentences.filter(Boolean).join(" "), { param: "model" });
}

/** Returns the value of `model` in an answer: the alias that the caller used, otherwise the id. */
export const nameInAnswer = ({ id, aliases }: ServedModel, asked: string): string =>
  aliases.includes(asked) ? asked : id;

/** Returns the metadata of a ready engine. @throws {ApiError} 503 `service_unavailable` while it is not ready */
export function readyMetadata({ id, engine }: ServedModel): EngineMetadata {
  if (engine.state === "ready" && engine.metadata) return engine.metadata;
  throw new ApiError("service_unavailable", `The model ${id} is not ready at the moment. Try again shortly.`, {
    retryAfterMs: 2000,
  });
}
