import { describe } from "vitest";
import { testEngineContract } from "../engine-contract.ts";
import { routers, startRouter } from "../../testing/vllm/routers.ts";
import { forward, neverEnding, startElsewhere, startVllm } from "../../testing/vllm/start-vllm.ts";

describe.each(routers)("behind $title", (router) => {
  testEngineContract({
    title: `vLLM behind ${router.title}`,
    start: async () => {
      const started = startVllm();
      await started.vllm.engine.whenReady();
      const { url, server } = await forward(started.vllm.socketPath);
      const running = await startRouter(router, url);
      const engine = startElsewhere([running.url]);
      const dispose = async (): Promise<void> => {
        await engine.close(0);
        await running[Symbol.asyncDispose]();
        server.close();
        await started[Symbol.asyncDispose]();
      };
      return Object.assign(engine, { [Symbol.asyncDispose]: dispose });
    },
    talkative: ({ sampling, ...members }) => ({ ...members, sampling: { ...sampling, logit_bias: neverEnding } }),
  });
});
