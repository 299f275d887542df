import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startVllmContainer } from "../../src/vllm/index.ts";
import type { VllmSidecar } from "../../src/vllm/index.ts";
import { testEngineContract } from "../engine-contract.ts";
import { askOne, neutral } from "../../testing/requests.ts";
import { container, containerProgram, image, ownContainers } from "../../testing/vllm/containers.ts";
import { neverEnding, testTimings } from "../../testing/vllm/start-vllm.ts";
import { miniFolder } from "../../testing/start-scripted-vllm.ts";

interface Started extends AsyncDisposable {
  readonly vllm: VllmSidecar;
}

function start(): Started {
  const folder = mkdtempSync(join(tmpdir(), "parley-"));
  const vllm = startVllmContainer({
    name: "vendor/model-1-mini",
    weights: miniFolder,
    image,
    contextLength: undefined,
    slots: 8,
    kvMemoryMb: undefined,
    cpuKvMemoryMb: 256,
    gpuMemoryShare: undefined,
    tensorParallel: undefined,
    gpus: undefined,
    cores: "0",
    extraArguments: [],
    runFolder: folder,
    stateFolder: folder,
    cacheSecret: Buffer.alloc(32, 1),
    sampling: neutral,
    timings: testTimings,
    report: () => undefined,
  });
  const dispose = async (): Promise<void> => {
    await vllm.engine.close(0);
    rmSync(folder, { recursive: true, force: true });
  };
  return { vllm, [Symbol.asyncDispose]: dispose };
}

describe.runIf(containerProgram !== undefined)("the container driver", () => {
  // The engine ends with this block.
  describe("as an engine", () => {
    testEngineContract({
      title: "vLLM in a container",
      start: async () => {
        const started = start();
        return Object.assign(started.vllm.engine, { [Symbol.asyncDispose]: started[Symbol.asyncDispose] });
      },
      talkative: ({ sampling, ...members }) => ({ ...members, sampling: { ...sampling, logit_bias: neverEnding } }),
    });
  });

  describe("its container", () => {
    let started: Started;
    beforeAll(async () => {
      started = start();
      await started.vllm.engine.whenReady();
    });
    afterAll(() => started[Symbol.asyncDispose]());

    test("has nothing that it does not need", () => {
      const [id = ""] = ownContainers();
      const [facts] = JSON.parse(container("inspect", id)) as [{ readonly HostConfig: Record<string, unknown> }];
      expect(facts.HostConfig).toMatchObject({
        NetworkMode: "none",
        ReadonlyRootfs: true,
        SecurityOpt: ["no-new-privileges"],
        RestartPolicy: { Name: "no" },
        PortBindings: {},
      });
      // Docker and podman list dropped capabilities in different ways, so the kernel is asked.
      expect(container("exec", id, "grep", "CapBnd", "/proc/self/status")).toMatch(/^CapBnd:\s+0+$/);
      expect(facts.HostConfig["Binds"]).toContainEqual(expect.stringContaining(`${miniFolder}:/weights:ro`));
    });

    test("it does not keep its server from the processors", async () => {
      const delay = monitorEventLoopDelay();
      delay.enable();
      const request = { say: "Hello", maxTokens: 3000, sampling: { logit_bias: neverEnding } };
      for (let round = 0; round < 4; round += 1) {
        const answers = await Promise.all(Array.from({ length: 6 }, () => askOne(started.vllm.engine, request)));
        expect(answers.map(({ finish }) => finish)).toEqual(Array(6).fill("length"));
      }
      // Without the lower CPU share of the container, it was 7 to 30 s in each of eight rounds.
      expect(delay.max / 1e6).toBeLessThan(2000);
    });

    test("closing leaves no container", async () => {
      await started.vllm.engine.close(1000);
      expect(ownContainers()).toEqual([]);
    });
  });
});
