import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EngineFiles } from "../../src/index.ts";
import { askOne } from "../requests.ts";
import { isAlive } from "../until.ts";
import { miniFolder, startVllm } from "./start-vllm.ts";

/** Starts of a real vLLM that cannot succeed, and one on top of what a killed server has left. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The mini model's folder, with something wrong in it. */
function damaged(name: string, damage: (copy: string) => void): string {
  const copy = join(folder, name);
  cpSync(miniFolder, copy, { recursive: true });
  damage(copy);
  return copy;
}

describe("a start that cannot succeed is given up at once, with a sentence", () => {
  test.each<[string, () => object, RegExp]>([
    ["weights missing", () => ({ weights: join(folder, "nowhere") }), /The folder .*nowhere is missing/],
    [
      "weights truncated",
      () => ({ weights: damaged("cut", (copy) => truncateSync(join(copy, "model.safetensors"), 200_000)) }),
      /The weights are damaged/,
    ],
    [
      "another architecture",
      () => ({
        weights: damaged("odd", (copy) => {
          const file = join(copy, "config.json");
          writeFileSync(
            file,
            readFileSync(file, "utf8").replace("Qwen3ForCausalLM", "OddForCausalLM").replace('"qwen3"', '"odd"'),
          );
        }),
      }),
      /cannot run models of the (architecture|type)/,
    ],
    ["a flag that it does not know", () => ({ extraArguments: ["--no-such-flag"] }), /does not know --no-such-flag/],
    [
      "a context that its memory does not hold",
      () => ({ cpuKvMemoryMb: 1 }),
      /memory for the key-value cache is too small/,
    ],
  ])("%s", async (_title, changes, why) => {
    await using started = startVllm(changes());
    const error: unknown = await started.vllm.engine.whenReady().catch((reason: unknown) => reason);
    if (!why.test(String(error))) console.log(started.vllm.logLines.slice(-40).join("\n"));
    expect(String(error)).toMatch(why);
    expect([started.vllm.engine.state, started.vllm.engine.gauges().restarts]).toEqual(["quarantined", 0]);
  });
});

test("our own process killed with -9: the orphans are found, ended and replaced", async () => {
  const state = join(folder, "state");
  const program = fileURLToPath(new URL("../programs/own-vllm.ts", import.meta.url));
  const server = spawn(process.execPath, [program, state], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(server.stdout, "data")) as [Buffer]; // one line of JSON
  const { pid: orphan } = JSON.parse(line.toString()) as { readonly pid: number };
  server.kill("SIGKILL");
  await once(server, "exit");
  expect(isAlive(orphan)).toBe(true);
  const shared = new Set(readdirSync("/dev/shm").filter((name) => name.startsWith("psm_")));
  await using next = startVllm({ stateFolder: state });
  await next.vllm.engine.whenReady();
  expect(isAlive(orphan)).toBe(false);
  expect((await askOne(next.vllm.engine, { max_tokens: 4 })).finish).toBe("length");
  const log = new EngineFiles(state, next.options.name).lastLines(2000) ?? "";
  expect(log).toMatch(/cleared what an earlier run had left: process \d+, process \d+/);
  expect(readdirSync("/dev/shm").filter((name) => shared.has(name))).toEqual([]);
});
