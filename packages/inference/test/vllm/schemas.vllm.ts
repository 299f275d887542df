import { afterAll, beforeAll } from "vitest";
import { startVllm } from "../../testing/vllm/start-vllm.ts";
import type { StartedVllm } from "../../testing/vllm/start-vllm.ts";
import { testFinishedAnswers } from "../finished-answers.ts";

let started: StartedVllm;
beforeAll(async () => {
  started = startVllm();
  await started.vllm.engine.whenReady();
});
afterAll(() => started[Symbol.asyncDispose]());

testFinishedAnswers(() => started.vllm.engine);
