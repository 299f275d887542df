import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeScriptedVllm } from "@parley/inference/testing";
import { CliProcess, until } from "@parley/server/testing";

/** Tests of the engine commands, with a fake vLLM. */

let folder: string;
const inData = (): string[] => ["--data-dir", join(folder, "data")];
const onVllm = (): string[] => ["--engine", "vllm-process", "--vllm", join(folder, "venv"), ...inData()];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-"));
  writeScriptedVllm(join(folder, "venv"), {});
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(...args: readonly string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  await using cli = new CliProcess(args, { cwd: folder });
  return await cli.result();
}

describe("engine plan", () => {
  test("prints the exact command line, preceded by its variables", async () => {
    const { code, stdout } = await run("engine", "plan", ...onVllm());
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /vendor\/model-1: vllm-process\n +TMPDIR=\S+ .*venv\/bin\/vllm serve .*demo-models\/model-1 --uds /,
    );
    expect(stdout).toContain("--served-model-name vendor/model-1-mini --dtype bfloat16");
  });

  test("follows parley.yaml, separately for each model", async () => {
    const file = join(folder, "own.yaml");
    writeFileSync(
      file,
      "models: {model-1: {engine: vllm-process, slots: 3, gpus: '1', tensor_parallel: 2, arguments: [--seed, '7']}, model-1-mini: }",
    );
    const { stdout } = await run("engine", "plan", "--config", file, "--vllm", join(folder, "venv"));
    expect(stdout).toMatch(/CUDA_VISIBLE_DEVICES=1 .*--max-num-seqs 4 .*--tensor-parallel-size 2 .*--seed 7\n/);
    expect(stdout).toContain("vendor/model-1-mini: embedded");
  });

  test("names the missing part if vLLM is not installed", async () => {
    const { stdout } = await run("engine", "plan", "--engine", "vllm-process", "--vllm", "/nonexistent", ...inData());
    expect(stdout).toContain("PARLEY_VLLM names /nonexistent, where there is no vLLM.");
  });
});

describe("doctor", () => {
  test("finds no problem if there is none", async () => {
    const { code, stdout } = await run("doctor", ...onVllm(), "--port", "0", "--metrics-port", "off");
    expect(stdout).toContain("vLLM 0.32.0+cpu");
    expect(code).toBe(0);
  });

  test("checks the ports", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    // A server that listens on a port has an address.
    const { port } = taken.address() as AddressInfo;
    const { code, stdout } = await run("doctor", ...onVllm(), "--port", String(port));
    taken.close();
    expect(stdout).toMatch(/cannot be had \(.*EADDRINUSE.*\): stop what uses it/);
    expect(code).toBe(1);
  });

  test("has a sentence for every problem, and fails", async () => {
    const { code, stdout } = await run("doctor", ...onVllm(), "--model-1-weights", "/nonexistent/weights");
    expect(stdout).toContain("The folder /nonexistent/weights is missing.");
    expect(code).toBe(1);
  });
});

test.each<[string, readonly string[], RegExp, number?]>([
  ["status without a server", ["engine", "status", "--port", "1"], /No server answers at/],
  ["logs that there are not", ["engine", "logs", "model-1"], /There is no log of model-1/],
  ["an unknown model", ["engine", "logs", "model-9"], /There is no model model-9/],
  [
    "restarting a model without an engine of its own",
    ["engine", "restart", "model-1"],
    /nothing to restart but the server/,
  ],
  [
    "examining the front of a model that has none",
    ["engine", "doctor", "model-1", "--front"],
    /not served by a remote/,
  ],
  ["examining nothing in particular", ["engine", "doctor", "model-1"], /required option '--front' not specified/, 2],
  [
    "engines without an address",
    ["engine", "doctor", "model-1", "--front", "--engines", "gpu-1:8000"],
    /"gpu-1:8000" is not an http or https URL/,
    2,
  ],
  ["restarting without a server", ["engine", "restart", "model-1", "--engine", "vllm-process"], /No server uses/],
  ["installing without the right Python", ["vllm", "install", "--python", "/nonexistent"], /Python 3\.11 is needed/],
])("fails with a sentence: %s", async (_title, args, why, exitCode = 1) => {
  const { code, stderr } = await run(...args, ...(args[1] === "status" ? [] : inData()));
  expect(stderr).toMatch(why);
  expect(code).toBe(exitCode);
});

test(
  "a running server tells its engines' states, shows their logs, and restarts one",
  { timeout: 60_000 },
  async () => {
    await using server = new CliProcess(["start", "--port", "0", "--metrics-port", "off", ...onVllm()], {
      cwd: folder,
    });
    const [, port = ""] = await server.says(/Base URL +http:\/\/127\.0\.0\.1:(\d+)/, 30_000);
    const states = async (): Promise<string> => (await run("engine", "status", "--port", port)).stdout;
    expect(await states()).toMatch(/vendor\/model-1 +ready\nvendor\/model-1-mini +ready\n\(the service\) +ready/);
    await run("engine", "restart", "vendor/model-1", ...onVllm());
    await until(
      async () => (await run("engine", "logs", "model-1", ...inData())).stdout,
      (log) => log.includes("restart requested"),
    );
    await until(states, (text) => /model-1 +ready/.test(text));
    // Its engines end with it only after a signal that it can handle.
    server.child.kill("SIGTERM");
    expect((await server.result()).code).toBe(0);
  },
);
