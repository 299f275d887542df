import { expect, test } from "vitest";
import { coresFor, engineVariables } from "./environment.ts";

test.each([
  ["two engines on two cores", 0, 2, 2, "0"],
  ["the second of them", 1, 2, 2, "1"],
  ["two engines on eight", 1, 2, 8, "4-7"],
  ["two engines on one", 1, 2, 1, "0"],
])("%s", (_title, place, engines, available, want) => {
  expect(coresFor(place, engines, available)).toBe(want);
});

test("GPUs are chosen by their numbers, processors by theirs", () => {
  const gpu = engineVariables({ isCpu: false, temporaryFolder: "/t", gpus: "1", cores: "0" });
  expect(gpu).toMatchObject({ CUDA_VISIBLE_DEVICES: "1", TMPDIR: "/t" });
  expect(gpu).not.toHaveProperty("VLLM_CPU_OMP_THREADS_BIND");
  expect(engineVariables({ isCpu: true, temporaryFolder: "/t", gpus: undefined, cores: "3" })).toMatchObject({
    VLLM_CPU_OMP_THREADS_BIND: "3",
  });
});
