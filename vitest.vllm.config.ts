import { defineConfig } from "vitest/config";

/** Tests against a real vLLM. One file after another: every engine takes a core and two gigabytes. */
export default defineConfig({
  test: {
    include: ["packages/*/test/vllm/**/*.vllm.ts"],
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
