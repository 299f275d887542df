import { afterAll, beforeAll } from "vitest";
import { testFinishedAnswers } from "./finished-answers.ts";
import { startMini } from "./start-engines.ts";
import type { StartedEngine } from "./start-engines.ts";

let started: StartedEngine;
beforeAll(async () => {
  started = await startMini();
  await started.engine.whenReady();
});
afterAll(() => started[Symbol.asyncDispose]());

testFinishedAnswers(() => started.engine);
