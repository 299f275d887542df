import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startVllmContainer } from "../../src/index.ts";
import type { VllmSidecar } from "../../src/index.ts";
import { testEngineContract } from "../engine-contract.ts";
import { askOne, neutral } from "../requests.ts";
import { until } from "../until.ts";
import { miniFolder, testTimings } from "./start-vllm.ts";

/** Built from deploy/vllm-cpu.Dockerfile. */
const image = process.env["PARLEY_TEST_VLLM_IMAGE"] ?? "parley/vllm-cpu:0.32.0";

const docker = (...args: readonly string[]): string =>
  execFileSync("docker", args, { encoding: "utf8", stdio: "pipe" }).trim();

function findImage(): boolean {
  try {
    return docker("image", "inspect", "--format", "{{.Id}}", image) !== "";
  } catch {
    return false;
  }
}

const isThere = findImage();
if (!isThere) console.warn(`The container driver was not tried: no docker answers that has the image ${image}.`);

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

const containers = (): string[] =>
  docker("ps", "--all", "--quiet", "--filter", "label=parley.owner").split("\n").filter(Boolean);

/** Fills its memory with what belongs to no process: the kernel has to end one of the engine's. */
function exhaust(id: string): void {
  docker("update", "--memory", "3g", "--memory-swap", "3g", id);
  try {
    docker("exec", id, "sh", "-c", "head -c 1900m /dev/zero > /dev/shm/fill");
  } catch {
    // Its own shell may be the one that is ended, or go with the container.
  }
}

describe.runIf(isThere)("the container driver", () => {
  // In a block of its own: its engine ends with it.
  describe("as an engine", () => {
    testEngineContract({
      title: "vLLM in a container",
      start: async () => {
        const started = start();
        return Object.assign(started.vllm.engine, { [Symbol.asyncDispose]: started[Symbol.asyncDispose] });
      },
      talkative: ({ sampling, ...members }) => ({
        ...members,
        sampling: { ...sampling, logit_bias: { "2039": -100, "2041": -100 } },
      }),
    });
  });

  describe("a container that goes away is replaced", () => {
    let started: Started;
    beforeAll(async () => {
      started = start();
      await started.vllm.engine.whenReady();
    });
    afterAll(() => started[Symbol.asyncDispose]());

    test("has nothing that it does not need", () => {
      const [id = ""] = containers();
      const [facts] = JSON.parse(docker("inspect", id)) as [{ readonly HostConfig: Record<string, unknown> }];
      expect(facts.HostConfig).toMatchObject({
        NetworkMode: "none",
        ReadonlyRootfs: true,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        RestartPolicy: { Name: "no" },
        PortBindings: {},
      });
      expect(facts.HostConfig["Binds"]).toContainEqual(`${miniFolder}:/weights:ro`);
    });

    test.each<[string, (id: string) => void]>([
      ["killed", (id) => docker("kill", id)],
      ["removed", (id) => docker("rm", "--force", id)],
      ["out of memory", exhaust],
    ])("%s", async (what, act) => {
      const { engine } = started.vllm;
      await engine.whenReady();
      const [id = ""] = containers();
      const at = performance.now();
      const bias = { "2039": -100, "2041": -100 };
      const streaming = askOne(
        engine,
        { max_tokens: 20_000, sampling: { logit_bias: bias } },
        AbortSignal.timeout(300_000),
      );
      const failure = streaming.catch((error: unknown) => error);
      await until("it runs", () => engine.gauges().running === 1);
      act(id);
      expect(String(await failure)).toMatch(/the engine/);
      await until("it is noticed", () => engine.state !== "ready");
      await engine.whenReady();
      expect((await askOne(engine, { max_tokens: 4 })).finish).toBe("length");
      console.log(`${what}: answers again after ${Math.round(performance.now() - at)} ms`);
      expect(containers()).toHaveLength(1);
    });

    test("closing leaves no container", async () => {
      await started.vllm.engine.close(1000);
      expect(containers()).toEqual([]);
    });
  });
});
