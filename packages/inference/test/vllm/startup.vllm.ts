import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askOne } from "../../testing/requests.ts";
import { until } from "../../testing/until.ts";
import { addFault, faultTable } from "../../testing/vllm/report.ts";
import { mountSmallDisk } from "../../testing/vllm/small-disk.ts";
import { startVllm } from "../../testing/vllm/start-vllm.ts";
import { miniFolder } from "../../testing/start-scripted-vllm.ts";

/** Starts of a real vLLM that cannot succeed, and one start where another program has its socket. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  faultTable.print();
});

/** Copies the mini model's folder, and damages the copy. */
function damaged(name: string, damage: (copy: string) => void): string {
  const copy = join(folder, name);
  cpSync(miniFolder, copy, { recursive: true });
  damage(copy);
  return copy;
}

describe("a start that cannot succeed fails at once, with a sentence", () => {
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
  ])("%s", async (fault, changes, why) => {
    const beganAt = performance.now();
    await using started = startVllm(changes());
    const error: unknown = await started.vllm.engine.whenReady().catch((reason: unknown) => reason);
    if (!why.test(String(error))) console.log(started.vllm.logLines.slice(-40).join("\n"));
    expect(String(error)).toMatch(why);
    expect([started.vllm.engine.state, started.vllm.engine.gauges().restarts]).toEqual(["failed", 0]);
    const outcome = "failed at the first try, with a sentence";
    addFault({ driver: "process", fault, outcome, noticedMs: performance.now() - beganAt, recoveredMs: undefined });
  });
});

test("the place of its socket is taken by another program: the engine gets it all the same", async () => {
  const name = "vendor/model-1-mini";
  const place = join(folder, createHash("sha256").update(name).digest("hex").slice(0, 8));
  mkdirSync(place);
  const stranger = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n{}")).listen(join(place, "api"));
  await once(stranger, "listening");
  await using started = startVllm({ name, runFolder: folder });
  const beganAt = performance.now();
  await started.vllm.engine.whenReady();
  const outcome = "it gets its place all the same";
  const fault = "its socket's place is taken";
  addFault({ driver: "process", fault, outcome, noticedMs: 0, recoveredMs: performance.now() - beganAt });
  expect(started.vllm.socketPath).toBe(join(place, "api"));
  expect((await askOne(started.vllm.engine, { maxTokens: 4 })).finish).toBe("length");
  expect(started.vllm.engine.gauges().restarts).toBe(0);
  stranger.close();
});

const disk = mountSmallDisk(4);
afterAll(() => disk?.unmount());

test.runIf(disk !== undefined)("a full disk of its temporary files and caches does no lasting harm", async () => {
  const place = disk?.place ?? "";
  const before = process.env["VLLM_CACHE_ROOT"];
  process.env["VLLM_CACHE_ROOT"] = join(place, "cache");
  disk?.fill();
  await using started = startVllm({ runFolder: place });
  const ready = started.vllm.engine.whenReady().then(() => "ready");
  await Promise.race([ready, until("a start fails", () => started.vllm.engine.gauges().restarts > 0, 240_000)]);
  console.log(`starts that failed on a full disk: ${started.vllm.engine.gauges().restarts}`);
  disk?.free();
  expect(await ready).toBe("ready");
  expect((await askOne(started.vllm.engine, { maxTokens: 4 })).finish).toBe("length");
  if (before === undefined) delete process.env["VLLM_CACHE_ROOT"];
  else process.env["VLLM_CACHE_ROOT"] = before;
});
