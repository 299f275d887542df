import type { ClientClause } from "../clause.ts";
import { connectionClauses } from "./connections.ts";
import { endingClauses } from "./endings.ts";
import { errorClauses } from "./errors.ts";
import { framingClauses } from "./framing.ts";
import { memberClauses } from "./members.ts";
import { requestClauses } from "./requests.ts";
import { retryClauses } from "./retries.ts";
import { secrecyClause } from "./secrecy.ts";

/** Every clause for clients. Ids are permanent. */
export const clientClauses: readonly ClientClause[] = [
  ...requestClauses,
  ...framingClauses,
  ...memberClauses,
  ...endingClauses,
  ...errorClauses,
  ...retryClauses,
  ...connectionClauses,
  secrecyClause,
];
