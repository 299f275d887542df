import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isOver } from "./stage.ts";
import type { FailureStage, Stage } from "./stage.ts";

/** Mounts stages right on Node's server: each in turn, until one has answered. */
export function runStages(stages: readonly Stage[], fail: FailureStage): RequestListener {
  return (request, response) => void run(stages, fail, request, response);
}

async function run(
  stages: readonly Stage[],
  fail: FailureStage,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    for (const stage of stages) {
      const work = stage(request, response);
      // Most stages do nothing that has to be waited for.
      if (work) await work;
      if (isOver(response)) return;
    }
  } catch (error) {
    await fail(error, request, response);
  }
}
