import type { EngineMetadata } from "@parley/inference";
import type { Caller } from "../auth/caller.ts";
import { ApiError } from "../errors/api-error.ts";
import type { ServedModel } from "./served-model.ts";

/** The models that are offered, in the order of the listing. */
export type ServedModels = readonly ServedModel[];

/** Those that this caller's key may use. */
export const modelsFor = (models: ServedModels, caller: Caller): ServedModel[] =>
  models.filter((model) => caller.models === undefined || caller.models.has(model.id));

/** Whether a caller who asks for this name means this model: its id or one of its aliases. */
export const isCalled = ({ id, aliases }: ServedModel, name: string): boolean => id === name || aliases.includes(name);

/** Unknown, or not for this key: one wording for both, so that nobody learns which. @throws {ApiError} 404 `model_not_found` */
export function pickModel(models: ServedModels, caller: Caller, name: string): ServedModel {
  const model = modelsFor(models, caller).find((one) => isCalled(one, name));
  if (model) return model;
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  throw new ApiError(
    "model_not_found",
    `The model ${JSON.stringify(shown)} does not exist or is not for this key. GET /v1/models lists those that are.`,
    { param: "model" },
  );
}

/** What a ready engine knows of its model. @throws {ApiError} 503 `service_unavailable` while it is not ready */
export function readyMetadata({ id, engine }: ServedModel): EngineMetadata {
  if (engine.state === "ready" && engine.metadata) return engine.metadata;
  throw new ApiError("service_unavailable", `The model ${id} is not ready at the moment. Try again shortly.`, {
    retryAfterMs: 2000,
  });
}
