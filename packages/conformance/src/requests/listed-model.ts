import type { Context } from "../judge/context.ts";
import { cannot } from "../judge/finding.ts";
import { valueAt, isRecord, listAt, textAt } from "../judge/read.ts";

/** The model objects of the listing. */
export function modelObjectsOf(context: Context): readonly Record<string, unknown>[] {
  const { json } = context.answer("models");
  return listAt(json, "/data").filter(isRecord);
}

/** The id of a model object without its vendor prefix. */
export const nameWithoutVendor = (model: Record<string, unknown>): string =>
  String(model["id"]).replace(/^[^/]*\//, "");

/** The model object that a name means: by its id, by an alias, or by its id without the vendor prefix. */
export function modelObjectFor(context: Context, name: unknown): Record<string, unknown> | undefined {
  const models = modelObjectsOf(context);
  const exact = models.find((one) => one["id"] === name || listAt(one, "/aliases").includes(name));
  return exact ?? models.find((one) => nameWithoutVendor(one) === name);
}

/** The id of the model to judge: the named one, or the first one in the listing that is ready. */
export function modelId(context: Context): string {
  const { model } = context.profile;
  if (model !== undefined) return model;
  const listed = context.has("models") ? modelObjectsOf(context) : [];
  const ready = listed.find((one) => one["is_ready"] !== false) ?? listed[0];
  return textAt(ready, "/id") ?? cannot("no model is known: the listing names none, and --model was not given");
}

/** The model object of the model to judge. */
export function modelObject(context: Context): Record<string, unknown> {
  const id = modelId(context);
  return modelObjectsOf(context).find((one) => one["id"] === id) ?? cannot(`the listing has no model object of ${id}`);
}

/** Returns whether the model object lists a feature. */
export const hasFeature = (context: Context, feature: string): boolean =>
  listAt(modelObject(context), "/supported_features").includes(feature);

/** Returns whether the model object lists `reasoning`; false if there is no model object. */
export const canReason = (context: Context): boolean =>
  context.has("models") &&
  modelObjectsOf(context).some(
    (one) => one["id"] === modelId(context) && listAt(one, "/supported_features").includes("reasoning"),
  );

/** The maximum number of tokens of a completion, from the listing. */
export function maxCompletionTokensOf(context: Context): number {
  const most = valueAt(modelObject(context), "/max_completion_tokens");
  return typeof most === "number" ? most : cannot("the listing has no max_completion_tokens of the model");
}

/** The size of the context window in tokens, from the listing. */
export function contextLength(context: Context): number {
  const length = lengthOr(context, Number.NaN);
  return Number.isNaN(length) ? cannot("the listing has no context_length of the model") : length;
}

export function lengthOr(context: Context, otherwise: number): number {
  const model = modelObjectsOf(context).find((one) => one["id"] === modelId(context));
  // vLLM names it `max_model_len`.
  const length = valueAt(model, "/context_length") ?? valueAt(model, "/max_model_len");
  return typeof length === "number" ? length : otherwise;
}
