import { toModelObject } from "../../models/model-object.ts";
import { pickModel } from "../../models/pick-engine.ts";
import type { ServedModels } from "../../models/pick-engine.ts";
import type { Operation } from "../call.ts";

/** Returns one model object, as in the list. */
export const retrieveModel =
  (models: ServedModels): Operation<"retrieveModel"> =>
  async ({ caller, path }) =>
    toModelObject(pickModel(models, caller, path.model));
