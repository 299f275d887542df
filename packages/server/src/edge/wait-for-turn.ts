import type { LoopTurns } from "./loop-turns.ts";
import { bodyLengthOf } from "./read-body.ts";
import { contextOf } from "./request-context.ts";
import { callerOf } from "./require-key.ts";
import type { Stage } from "./stage.ts";

/** Bodies are parsed and checked one by one, and keys take turns. What has no body passes. */
export function waitForTurn(turns: LoopTurns): Stage {
  return async function waitForTurn(req, res) {
    if (req.method === "POST") await turns.forBody(callerOf(res).keyId, bodyLengthOf(req), contextOf(res).signal);
  };
}
