import type { ScriptStep } from "@parley/inference";
import type { TestServer } from "@parley/server/testing";

/** Scenarios for every SDK. */
export const faultScenarios: Readonly<Record<string, readonly ScriptStep[]>> = {
  fail: [{ fail: "out of memory" }],
  "fail-late": [{ role: true, tokens: 0 }, { text: "one" }, { text: " two" }, { fail: "out of memory" }],
  endless: [
    { role: true, tokens: 0 },
    { repeat: 100_000, steps: [{ text: " more" }, { wait_ms: 5 }] },
  ],
};

/** Returns the number of generations that the engine of the first model has aborted. */
export async function readAborted(server: TestServer): Promise<number> {
  const metrics = await server.metrics();
  return Number(/^parley_generations_aborted_total\{model="vendor\/model-1"\} (\d+)$/m.exec(metrics)?.[1]);
}
