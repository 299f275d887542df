import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{packages/*,openapi,repo,ci,docs,fuzz}/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    // Two cores: more workers would only make deadlines that the contract promises fail for want of a processor.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
