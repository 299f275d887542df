import { describe } from "vitest";
import { testEngineContract } from "../engine-contract.ts";
import { forward, isWhole, neverEnding, startElsewhere, startVllm } from "../../testing/vllm/start-vllm.ts";

const elsewhere = [
  { title: "vLLM elsewhere", changes: {} },
  {
    title: "two replicas in one vLLM elsewhere",
    changes: { cores: "0|1", extraArguments: ["--data-parallel-size", "2"] },
  },
];

// Each subject has a block of its own, so one engine runs at a time.
describe.runIf(isWhole).each(elsewhere)("$title", ({ title, changes }) => {
  testEngineContract({
    title,
    start: async () => {
      const started = startVllm(changes);
      await started.vllm.engine.whenReady();
      const { url, server } = await forward(started.vllm.socketPath);
      const engine = startElsewhere([`${url}/v1`]);
      const dispose = async (): Promise<void> => {
        await engine.close(0);
        server.close();
        await started[Symbol.asyncDispose]();
      };
      return Object.assign(engine, { [Symbol.asyncDispose]: dispose });
    },
    talkative: ({ sampling, ...members }) => ({ ...members, sampling: { ...sampling, logit_bias: neverEnding } }),
  });
});
