import { expect, test } from "vitest";
import { isAtLeast, parseVersion, serveArguments } from "./serve-arguments.ts";
import type { ServeOptions } from "./serve-arguments.ts";

const options: ServeOptions = {
  weights: "/w",
  servedName: "vendor/model-1",
  listen: { socket: "/s" },
  contextLength: undefined,
  slots: 4,
  maxRequests: 16,
  isCpu: false,
  kvMemoryMb: undefined,
  gpuMemoryShare: 0.9,
  tensorParallel: 2,
  dtype: "bfloat16",
  shutdownSeconds: 60,
  extra: [],
};

test("a GPU gets its memory share, a processor the flags that it needs", () => {
  const gpu = serveArguments(options, [0, 32]).join(" ");
  expect(gpu).toContain("--gpu-memory-utilization 0.9 --tensor-parallel-size 2");
  expect(gpu).not.toMatch(/--enforce-eager|--no-enable-chunked-prefill|--max-model-len|--host|--port/);
  const cpu = serveArguments({ ...options, isCpu: true, kvMemoryMb: 256, contextLength: 4096 }, [0, 32]).join(" ");
  expect(cpu).toContain(
    "--kv-cache-memory-bytes 256M --enforce-eager --no-enable-chunked-prefill --max-num-batched-tokens 4096",
  );
});

test("a version is given only the flags that it knows, and the operator's own", () => {
  const older = serveArguments({ ...options, extra: ["--seed", "1"] }, [0, 20]);
  expect(older).not.toContain("--max-num-queued-reqs");
  expect(older.slice(-2)).toEqual(["--seed", "1"]);
  expect(serveArguments(options, [0, 32])).toContain("--max-num-queued-reqs");
});

test("a port is bound to the loopback interface", () => {
  expect(serveArguments({ ...options, listen: { port: 8000 } }, [0, 32]).join(" ")).toContain(
    "--host 127.0.0.1 --port 8000",
  );
});

test.each([
  ["0.32.0+cpu", [0, 32]],
  ["1.0", [1, 0]],
  ["dev", undefined],
])("reads the version %s", (text, want) => {
  expect(parseVersion(text)).toEqual(want);
});

test("versions are ordered as numbers", () => {
  expect([isAtLeast([0, 9], [0, 10]), isAtLeast([1, 0], [0, 32]), isAtLeast([0, 32], [0, 32])]).toEqual([
    false,
    true,
    true,
  ]);
});
