import { neverEnding, startMini } from "./start-engines.ts";
import { testEngineContract } from "./engine-contract.ts";

let logit_bias: Record<string, number> = {};

testEngineContract({
  title: "embedded llama.cpp",
  start: async () => {
    logit_bias = await neverEnding();
    const started = await startMini();
    return Object.assign(started.engine, { [Symbol.asyncDispose]: started[Symbol.asyncDispose] });
  },
  talkative: ({ sampling, ...members }) => ({ ...members, sampling: { ...sampling, logit_bias } }),
});
