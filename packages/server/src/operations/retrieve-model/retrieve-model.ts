import { toRecord } from "../../engines/model-record.ts";
import { pickModel } from "../../engines/pick-engine.ts";
import type { ServedModels } from "../../engines/pick-engine.ts";
import type { Operation } from "../call.ts";

/** One model object, exactly as in the list. */
export const retrieveModel =
  (models: ServedModels): Operation<"retrieveModel"> =>
  async ({ caller, path }) =>
    toRecord(pickModel(models, caller, path.model));
