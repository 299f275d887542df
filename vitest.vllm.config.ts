import { defineConfig } from "vitest/config";

/** Everything, or what shows in a few minutes that a real vLLM is served as it should be. */
const isWhole = process.env["PARLEY_TEST_VLLM_ALL"] !== undefined;
const files = isWhole ? "*" : "{default,chat,faults,spare-slot}";

/** Tests against a real vLLM. One file after another: every engine takes a core and two gigabytes. */
export default defineConfig({
  test: {
    include: [`packages/*/test/vllm/**/${files}.vllm.ts`, "packages/{inference,server}/test/fronts/*.fronts.ts"],
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
