import { toModelObject } from "../../models/model-object.ts";
import { modelsFor } from "../../models/pick-engine.ts";
import type { ServedModels } from "../../models/pick-engine.ts";
import type { Operation } from "../call.ts";

/** Lists the models that the caller's key may use. */
export const listModels =
  (models: ServedModels): Operation<"listModels"> =>
  async ({ caller }) => ({ object: "list", data: modelsFor(models, caller).map(toModelObject) });
