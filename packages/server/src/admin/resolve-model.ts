import { ManageError } from "../accounts/manage/manage-error.ts";
import type { ResolveModel } from "../accounts/manage/wire.ts";
import { findModel, suggestIds } from "../config/find-model.ts";
import type { Config } from "../config/read-config.ts";

/** Returns a function that finds the id of a served model by any of its names. Keys store ids of models. */
export const modelResolver =
  (config: Pick<Config, "models">): ResolveModel =>
  (name) => {
    const { models } = config;
    const model = findModel(models, name);
    if (model) return model.id;
    const offered = new Intl.ListFormat("en").format(models.map(({ id }) => id));
    const sentence = `There is no model ${name}. ${suggestIds(models, name)} There are ${offered}.`;
    throw new ManageError("invalid_value", sentence, "models");
  };
