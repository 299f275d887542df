import { expect, test } from "vitest";
import type { Completion } from "../src/chat/relay/collect.ts";
import { readShownRequests } from "./read-shown-requests.ts";
import type { ShownRequest } from "./read-shown-requests.ts";
import { useServer } from "./use-server.ts";

/** An answer with more tokens takes longer than a reader waits. */
const mostTokens = 200;

const server = useServer({ settings: { engine: "embedded", kvMemoryMb: 256 } });

/** Sampling is greedy unless the example has a temperature, so the verdict is the same in every run. */
async function endsInTime(model: string, { body }: ShownRequest): Promise<boolean> {
  const cap = body["max_completion_tokens"] ?? body["max_tokens"] ?? mostTokens;
  const { stream: _, stream_options: __, ...members } = body;
  const { choices }: Completion = await server().complete({
    temperature: 0,
    seed: 1,
    ...members,
    max_completion_tokens: cap,
    model,
  });
  const isCapped = typeof cap === "number" && cap < mostTokens;
  return choices.every(({ finish_reason: reason }) => reason !== "length" || isCapped);
}

test("every request that is shown gets an answer that ends, from both models", { timeout: 300_000 }, async () => {
  const failed: string[] = [];
  for (const model of ["vendor/model-1", "vendor/model-1-mini"]) {
    for (const shown of readShownRequests()) {
      if (!(await endsInTime(model, shown))) failed.push(`${model}: ${shown.title}`);
    }
  }
  expect(failed).toEqual([]);
});

test("the pages, the examples and the terminal are read", () => {
  const titles = readShownRequests().map(({ title }) => title);
  expect(titles).toContain("request-json-schema");
  expect(titles).toContain("What is a reentrancy attack?"); // the terminal's hint
  expect(titles).toContain("What is impermanent loss?"); // the contract's quick start
});
