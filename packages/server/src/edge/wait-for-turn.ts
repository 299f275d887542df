import type { RequestHandler } from "express";
import type { LoopTurns } from "./loop-turns.ts";
import { contextOf } from "./request-context.ts";
import { callerOf } from "./require-key.ts";

/** Bodies are parsed and checked one by one, and keys take turns. What has no body passes. */
export function waitForTurn(turns: LoopTurns): RequestHandler {
  return async function waitForTurn(req, res, next) {
    if (req.method === "POST") {
      const { length } = req.body as Buffer; // readBody has put it there
      await turns.forBody(callerOf(res).keyId, length, contextOf(res).signal);
    }
    next();
  };
}
