import { account } from "./account.ts";
import { answers } from "./answers.ts";
import { authAndModels } from "./auth-and-models.ts";
import type { SeededBugs } from "./mutate.ts";
import { http } from "./http.ts";
import { operations } from "./operations.ts";
import { request } from "./request.ts";
import { streams } from "./streams.ts";
import { toolsAndFormats } from "./tools-and-formats.ts";

/** A mutant for every bug that the clauses of the contract name. */
export const seededBugs: SeededBugs = {
  ...http,
  ...authAndModels,
  ...request,
  ...answers,
  ...streams,
  ...toolsAndFormats,
  ...operations,
  ...account,
};
