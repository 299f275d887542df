import { describe } from "vitest";
import { startRemoteEngine } from "../../src/index.ts";
import { testEngineContract } from "../engine-contract.ts";
import type { EngineUnderTest } from "../engine-contract.ts";
import { neutral } from "../requests.ts";
import { forward, isWhole, miniFolder, neverEnding, startVllm, testTimings } from "./start-vllm.ts";

const talkative: EngineUnderTest["talkative"] = ({ sampling, ...members }) => ({
  ...members,
  sampling: { ...sampling, logit_bias: neverEnding },
});

// Each in a block of its own, so that one engine runs at a time.
describe("here", () => {
  testEngineContract({
    title: "vLLM as a process",
    start: async () => {
      const started = startVllm();
      return Object.assign(started.vllm.engine, { [Symbol.asyncDispose]: started[Symbol.asyncDispose] });
    },
    talkative,
  });
});

describe.runIf(isWhole)("elsewhere", () => {
  testEngineContract({
    title: "vLLM elsewhere",
    start: async () => {
      const started = startVllm();
      await started.vllm.engine.whenReady();
      const { url, server } = await forward(started.vllm.socketPath);
      const engine = startRemoteEngine({
        name: started.options.name,
        servedName: started.options.name,
        baseUrls: [`${url}/v1`],
        tokenizerFolder: miniFolder,
        headers: {},
        bearer: undefined,
        caFile: undefined,
        proxyUrl: undefined,
        slots: 8,
        sampling: neutral,
        timings: testTimings,
        report: () => undefined,
      });
      const dispose = async (): Promise<void> => {
        await engine.close(0);
        server.close();
        await started[Symbol.asyncDispose]();
      };
      return Object.assign(engine, { [Symbol.asyncDispose]: dispose });
    },
    talkative,
  });
});
