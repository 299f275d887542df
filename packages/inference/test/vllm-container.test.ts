import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startVllmContainer } from "../src/vllm/index.ts";
import type { VllmContainerOptions, VllmSidecar } from "../src/vllm/index.ts";
import { assertGpus, gpuArguments } from "../src/vllm/container/gpus.ts";
import { askOne, neutral } from "../testing/requests.ts";
import { miniFolder, quickTimings } from "../testing/start-scripted-vllm.ts";
import { until } from "../testing/until.ts";

/** The container driver with a stand-in for docker on the path. Other tests use a real docker. */

const path = process.env["PATH"] ?? "";
const cpuImage = { version: "20.10", labels: { "parley.vllm": "0.32.0", "parley.device": "cpu" } };
let folder: string;
let started: VllmSidecar[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-"));
});
afterEach(async () => {
  await Promise.all(started.map((one) => one.engine.close(0)));
  started = [];
  process.env["PATH"] = path;
  rmSync(folder, { recursive: true, force: true });
});

function program(name: string): string {
  return fileURLToPath(new URL(`../testing/programs/${name}`, import.meta.url));
}

/** Puts a docker with these facts on the path, and a podman that does not answer. */
function installDocker(facts: object): void {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(folder, "script.json"), '{"paceMs": 1}');
  writeFileSync(join(folder, "facts.json"), JSON.stringify({ program: program("scripted-vllm.ts"), ...facts }));
  const run = `export SCRIPTED_DOCKER='${folder}'\nexec '${process.execPath}' '${program("scripted-docker.mjs")}' "$@"`;
  writeFileSync(join(bin, "docker"), `#!/bin/sh\n${run}\n`);
  writeFileSync(join(bin, "podman"), "#!/bin/sh\nexit 1\n");
  for (const name of ["docker", "podman"]) chmodSync(join(bin, name), 0o755);
  process.env["PATH"] = `${bin}${delimiter}${path}`;
}

function start(changes: Partial<VllmContainerOptions> = {}): VllmSidecar {
  const sidecar = startVllmContainer({
    name: "vendor/model-1-mini",
    weights: miniFolder,
    image: "parley/vllm-cpu:0.32.0",
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
    stateFolder: join(folder, "state"),
    cacheSecret: Buffer.alloc(32, 1),
    sampling: neutral,
    timings: quickTimings,
    report: () => undefined,
    ...changes,
  });
  started.push(sidecar);
  return sidecar;
}

const calls = (): string[][] =>
  readFileSync(join(folder, "calls.log"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as string[]);
const runCall = (): string =>
  calls()
    .findLast(([verb]) => verb === "run")
    ?.join(" ") ?? "";

describe("a container", () => {
  test("answers over its socket, comes back when it was killed, and is gone in the end", async () => {
    installDocker(cpuImage);
    const { engine } = start();
    await engine.whenReady();
    expect((await askOne(engine, { maxTokens: 6 })).text).toHaveLength(6);
    process.kill(Number(readFileSync(join(folder, "container"), "utf8")), "SIGKILL");
    await until("it is noticed", () => engine.gauges().restarts > 0);
    await engine.whenReady();
    expect((await askOne(engine, { maxTokens: 6 })).finish).toBe("length");
    await engine.close(1000);
    expect(existsSync(join(folder, "container"))).toBe(false);
  });

  test("gets weights to read, a socket, labels, and no network, capability or writable root", async () => {
    installDocker(cpuImage);
    await start({ extraArguments: ["--seed", "1"] }).engine.whenReady();
    const call = runCall();
    expect(call).toContain(`--volume ${miniFolder}:/weights:ro`);
    expect(call).toContain("--cpu-shares 102");
    expect(call).not.toContain("--cgroup-parent");
    expect(call).toContain("--network none --restart no --cap-drop ALL --security-opt no-new-privileges --read-only");
    expect(call).toMatch(
      /--label parley\.owner=\w+ --label parley\.model=vendor\/model-1-mini --label parley\.config=\w{16}/,
    );
    expect(call).toMatch(
      /--entrypoint vllm parley\/vllm-cpu:0\.32\.0 serve \/weights --uds \/run\/parley\/api .*--seed 1$/,
    );
    expect(call).not.toContain("--gpus");
  });

  test.each([
    ["cgroupfs", [], "--cgroup-parent / --cpu-shares 102"],
    ["cgroupfs", ["name=rootless"], "--cpu-shares 102"],
    ["systemd", [], "--cpu-shares 102"],
  ])("stands behind all others on processors, of docker with %s %j", async (driver, options, wanted) => {
    installDocker({ ...cpuImage, cgroups: `${driver} [${options.join(" ")}]` });
    await start().engine.whenReady();
    const [, given] = /:\/tmp\/\.cache (.*) --env TMPDIR/.exec(runCall()) ?? [];
    expect(given).toBe(wanted);
  });

  test("that an earlier run has left is removed before a new start", async () => {
    installDocker(cpuImage);
    writeFileSync(join(folder, "container"), "999999999");
    await start().engine.whenReady();
    expect(
      calls()
        .slice(0, 3)
        .map(([verb]) => verb),
    ).toEqual(["version", "ps", "rm"]);
  });

  test("gets the GPUs that it is told", async () => {
    installDocker({ version: "27.0", labels: {}, runtimes: { nvidia: {} } });
    await start({ gpus: "0,1" }).engine.whenReady();
    expect(runCall()).toContain('--gpus "device=0,1"');
    expect(runCall()).not.toContain("--enforce-eager");
  });
});

test("podman gets GPUs by their description, and says how to make one", async () => {
  expect(gpuArguments("podman", "0,1")).toEqual(["--device", "nvidia.com/gpu=0", "--device", "nvidia.com/gpu=1"]);
  expect(gpuArguments("podman", undefined)).toEqual(["--device", "nvidia.com/gpu=all"]);
  const podman = { program: "podman", version: "5.0", run: async () => "" } as const;
  await expect(assertGpus(podman, [folder])).rejects.toThrow(/podman knows of no GPU: .*nvidia-ctk cdi generate/);
  writeFileSync(join(folder, "nvidia.yaml"), "");
  await assertGpus(podman, [folder]);
});

describe("says what is missing", () => {
  test.each<[string, object, RegExp]>([
    ["a server behind the program", {}, /No container engine answers \(docker: .*podman/],
    ["the image", { version: "27.0" }, /is not on this machine: fetch it with: docker pull parley\/vllm-cpu:0\.32\.0/],
    ["a GPU", { version: "27.0", labels: {} }, /docker knows of no GPU/],
  ])("%s", async (_title, facts, why) => {
    installDocker(facts);
    const { engine } = start();
    await expect(engine.whenReady()).rejects.toThrow(why);
    expect(engine.state).toBe("failed");
  });
});
