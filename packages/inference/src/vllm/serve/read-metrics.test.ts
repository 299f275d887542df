import { expect, test } from "vitest";
import { readMetrics } from "./read-metrics.ts";

test("adds up the counters of several engines, and tells whole prompts from their parts", () => {
  const text = `# HELP vllm:num_requests_running x
vllm:num_requests_running{engine="0",model_name="a"} 1.0
vllm:num_requests_running{engine="1",model_name="a"} 2.0
vllm:num_requests_waiting{engine="0",model_name="a"} 4.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 9.0
vllm:prompt_tokens_total{engine="0"} 10.0
vllm:prompt_tokens_created{engine="0"} 1.79e+09
vllm:generation_tokens_total{engine="0"} 1e3
`;
  expect(readMetrics(text)).toEqual({ running: 3, waiting: 4, tokens: 1010 });
  expect(readMetrics("")).toEqual({ running: 0, waiting: 0, tokens: 0 });
});
