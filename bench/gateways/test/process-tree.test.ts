import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { cpuOfTree, useOfTree } from "../process-tree.ts";

test.skipIf(process.platform !== "linux")("a tree counts its children, and those that have ended", async () => {
  // The first child works and ends; the second one works and keeps running.
  const spin = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done";
  const child = spawn("sh", ["-c", `sh -c '${spin}'; echo; sh -c '${spin}; echo; read x'; true`], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("no shell");
  await once(child.stdout, "data");
  const ended = cpuOfTree(pid);
  expect(ended).toBeGreaterThan(0);
  await once(child.stdout, "data");
  expect(cpuOfTree(pid)).toBeGreaterThan(ended);
  expect(useOfTree(pid).memoryBytes).toBeGreaterThan(100_000);
  child.stdin.end();
  await once(child, "exit");
  expect(cpuOfTree(pid)).toBe(0);
});
