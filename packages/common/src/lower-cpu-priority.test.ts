import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, test } from "vitest";
import { lowerCpuPriority } from "./lower-cpu-priority.ts";

test("a process and its session get a lower priority, and so do its child processes", async () => {
  const child = spawn("sh", ["-c", "read -r go; sleep 60 & echo $!; wait"], { detached: true });
  const pid = child.pid ?? 0;
  lowerCpuPriority(pid, 10);
  child.stdin.write("go\n");
  const [started] = (await once(child.stdout, "data")) as [Buffer];
  expect([getPriority(pid), getPriority(Number(started)), getPriority(process.pid)]).toEqual([10, 10, getPriority()]);
  const group = `/proc/${started.toString().trim()}/autogroup`;
  if (existsSync(group)) {
    expect(readFileSync(group, "utf8")).toContain("nice 10");
    expect(readFileSync("/proc/self/autogroup", "utf8")).not.toContain("nice 10");
  }
  process.kill(-pid, "SIGKILL");
});

test("a process that has ended meanwhile is not an error", async () => {
  const child = spawn("true");
  await once(child, "exit");
  expect(() => lowerCpuPriority(child.pid ?? 0, 10)).not.toThrow();
});
