import { expect, test } from "vitest";
import { miniFolder } from "../../../testing/start-scripted-vllm.ts";
import { readModelFolder } from "../../model-folder/model-folder.ts";
import { planServe } from "./serve-plan.ts";
import type { ServeSettings, ServeTarget } from "./serve-plan.ts";

const settings: ServeSettings = {
  name: "vendor/model-1",
  weights: miniFolder,
  contextLength: 512,
  slots: 4,
  kvMemoryMb: undefined,
  cpuKvMemoryMb: 256,
  gpuMemoryShare: undefined,
  tensorParallel: undefined,
  gpus: "1",
  cores: "0-3",
  extraArguments: ["--seed", "1"],
};
const process: ServeTarget = {
  version: [0, 32],
  isCpu: true,
  weights: miniFolder,
  socketPath: "/run/folder/api",
  temporaryFolder: "/run/folder",
  visibleGpus: "1",
};
const container = { ...process, weights: "/weights", socketPath: "/run/parley/api", temporaryFolder: "/tmp" };
const model = readModelFolder(miniFolder);

test("process and container start the same vLLM: only its paths differ", () => {
  const there = planServe(settings, model, container);
  const here = planServe(settings, model, process);
  const paths = new Map([
    ["/weights", miniFolder],
    ["/run/parley/api", "/run/folder/api"],
  ]);
  expect(there.args.map((one) => paths.get(one) ?? one)).toEqual(here.args);
  expect({ ...there.variables, TMPDIR: "/run/folder" }).toEqual(here.variables);
});

test("processors get a fixed amount of memory, a GPU the operator's setting", () => {
  expect(planServe(settings, model, process).args.join(" ")).toContain("--kv-cache-memory-bytes 256M");
  const gpu = planServe({ ...settings, gpuMemoryShare: 0.5 }, model, { ...process, isCpu: false });
  expect(gpu.args.join(" ")).toContain("--gpu-memory-utilization 0.5");
  expect(gpu.args).not.toContain("--kv-cache-memory-bytes");
  expect(gpu.variables).toMatchObject({ CUDA_VISIBLE_DEVICES: "1" });
});
