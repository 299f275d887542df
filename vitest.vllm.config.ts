import { defineConfig } from "vitest/config";

/** What takes many starts of an engine is run by name: `PARLEY_TEST_VLLM_ALL=1`. */
const isWhole = process.env["PARLEY_TEST_VLLM_ALL"] !== undefined;

/** Tests against a real vLLM. One file after another: every engine takes a core and two gigabytes. */
export default defineConfig({
  test: {
    include: ["packages/*/test/vllm/**/*.vllm.ts"],
    exclude: isWhole ? [] : ["**/startup.vllm.ts"],
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
