import { play } from "@parley/server/testing";
import type { TestOptions } from "@parley/server/testing";
import type { ChatMessage, CreateRequest } from "../src/index.ts";
import { hello } from "./ask.ts";

/** The scenarios of the scripted engine for these tests. */
export const scenarios: NonNullable<TestOptions["scenarios"]> = {
  fail: [{ fail: "out of memory" }],
  "fail-late": [{ role: true }, { text: "one" }, { text: " two" }, { fail: "out of memory" }],
  stall: [{ stall: true }],
  "stall-late": [{ role: true }, { text: "one" }, { stall: true }],
  endless: [{ role: true }, { repeat: 100_000, steps: [{ text: " more" }, { wait_ms: 5 }] }],
  slow: [{ role: true }, { text: "one" }, { wait_ms: 800 }, { text: " two" }, { finish: "stop" }],
  split: [{ split: true }, { role: true }, { text: "Zürich " }, { text: "🜁 汉" }, { finish: "stop" }],
};

/** A request that plays one of them. */
export const playing = (name: string): CreateRequest => {
  const { messages } = play(name) as { messages: ChatMessage[] }; // the harness writes chat messages
  return { ...hello, messages };
};

/** Returns the number of generations that the engine of the first model did not finish. */
export async function readAborted(server: { metrics(): Promise<string> }): Promise<number> {
  const metrics = await server.metrics();
  return Number(/^parley_generations_aborted_total\{model="vendor\/model-1"\} (\d+)$/m.exec(metrics)?.[1]);
}
