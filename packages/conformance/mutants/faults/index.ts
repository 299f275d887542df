import { answers } from "./answers.ts";
import { authAndModels } from "./auth-and-models.ts";
import type { Faults } from "./bend.ts";
import { http } from "./http.ts";
import { operations } from "./operations.ts";
import { request } from "./request.ts";
import { streams } from "./streams.ts";
import { toolsAndFormats } from "./tools-and-formats.ts";

/** A way to be wrong for every fault that the contract's clauses name. */
export const faults: Faults = {
  ...http,
  ...authAndModels,
  ...request,
  ...answers,
  ...streams,
  ...toolsAndFormats,
  ...operations,
};
