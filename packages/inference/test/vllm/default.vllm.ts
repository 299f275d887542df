import { neverEnding } from "../../testing/vllm/start-vllm.ts";
import { testEngineContract } from "../engine-contract.ts";
import { testFinishedAnswers } from "../finished-answers.ts";
import { defaultVllm } from "./use-default-vllm.ts";

// Tests that share one vLLM, because none of them ends it or needs options of its own.

testEngineContract({
  title: "vLLM as a process",
  start: async () => Object.assign(defaultVllm().vllm.engine, { [Symbol.asyncDispose]: () => Promise.resolve() }),
  talkative: ({ sampling, ...members }) => ({ ...members, sampling: { ...sampling, logit_bias: neverEnding } }),
});
testFinishedAnswers(() => defaultVllm().vllm.engine);
await import("./truth.ts");
await import("./cache-salt.ts");
