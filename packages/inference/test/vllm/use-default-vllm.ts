import { afterAll, beforeAll, beforeEach } from "vitest";
import { startVllm } from "../../testing/vllm/start-vllm.ts";
import type { StartedVllm } from "../../testing/vllm/start-vllm.ts";

// One vLLM with the default options, for all tests of the file that imports this: a start takes half a minute.

let started: StartedVllm;
beforeAll(async () => {
  started = startVllm({ report: (event) => void process.stdout.write(`${JSON.stringify(event)}\n`) });
  await started.vllm.engine.whenReady();
});
// Each test waits until vLLM is ready. So a crash of vLLM fails one test, and not all that follow.
beforeEach(() => started.vllm.engine.whenReady());
afterAll(() => started[Symbol.asyncDispose]());

/** @returns the vLLM that runs from `beforeAll` on. No test may end it. */
export const defaultVllm = (): StartedVllm => started;
