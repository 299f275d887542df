import type { Context } from "../judge/context.ts";
import { cannot } from "../judge/finding.ts";
import { at, isRecord, listAt, textAt } from "../judge/read.ts";

/** The records of the listing. */
export function recordsOf(context: Context): readonly Record<string, unknown>[] {
  const { json } = context.answer("models");
  return listAt(json, "/data").filter(isRecord);
}

/** The model that is judged: the one that was named, or the first one listed. */
export function modelId(context: Context): string {
  const { model } = context.profile;
  if (model !== undefined) return model;
  const listed = context.has("models") ? recordsOf(context) : [];
  const ready = listed.find((record) => record["is_ready"] !== false) ?? listed[0];
  return textAt(ready, "/id") ?? cannot("no model is known: the listing names none, and --model was not given");
}

/** The record of the model that is judged. */
export function modelRecord(context: Context): Record<string, unknown> {
  const id = modelId(context);
  return recordsOf(context).find((record) => record["id"] === id) ?? cannot(`the listing has no record of ${id}`);
}

/** Whether the record says that the model has a feature. */
export const hasFeature = (context: Context, feature: string): boolean =>
  listAt(modelRecord(context), "/supported_features").includes(feature);

/** The same, and no where there is no record. */
export const canReason = (context: Context): boolean =>
  context.has("models") &&
  recordsOf(context).some(
    (record) => record["id"] === modelId(context) && listAt(record, "/supported_features").includes("reasoning"),
  );

/** How many tokens prompt and answer may have together, by the listing. */
export function contextLength(context: Context): number {
  const length = lengthOr(context, Number.NaN);
  return Number.isNaN(length) ? cannot("the listing has no context_length of the model") : length;
}

export function lengthOr(context: Context, otherwise: number): number {
  const record = recordsOf(context).find((one) => one["id"] === modelId(context));
  const length = at(record, "/context_length");
  return typeof length === "number" ? length : otherwise;
}
