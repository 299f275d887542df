import { expect, test } from "vitest";
import { withoutOurs } from "./engine-process.ts";

test("our settings and secrets are not passed on, nor is the variable that opens vLLM's debugging paths", () => {
  const env = {
    PATH: "/bin",
    PARLEY_API_KEY: "k",
    PARLEY_UPSTREAM_API_KEY: "k",
    VLLM_SERVER_DEV_MODE: "1",
    VLLM_API_KEY: "k",
    CUDA_HOME: "/c",
  };
  expect(withoutOurs(env)).toEqual({ PATH: "/bin", CUDA_HOME: "/c" });
});
