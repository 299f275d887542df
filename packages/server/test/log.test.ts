import { execFileSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CliProcess } from "@parley/server/testing";
import { baseUrlOf, useFolder } from "./use-folder.ts";

const folder = useFolder();

/** Runs a server whose log goes to `target`. Returns the exit code after SIGTERM. */
async function serveThenStop(target: string): Promise<number | string | null> {
  const settings = folder.quick({ PARLEY_LOG_FORMAT: "json" });
  const wrapper = ["sh", "-c", `exec "$@" > ${target}`, "sh"];
  await using server = new CliProcess(["start"], { ...settings, wrapper });
  const base = await baseUrlOf(server);
  // The log cuts a path of 4,000 characters. 400 lines with it are more than the buffer of a pipe.
  const long = new URL(`/${"x".repeat(4000)}`, base);
  for (let count = 0; count < 400; count += 1) expect((await fetch(long)).status).toBe(404);
  const health = await fetch(new URL("/health", base), { signal: AbortSignal.timeout(30_000) });
  expect(health.status).toBe(200);
  server.child.kill("SIGTERM");
  return (await server.result()).code;
}

// Only Linux has both.
describe.runIf(process.platform === "linux")(
  "a log that cannot be written does not stop the service, or its end",
  () => {
    test("a full disk", async () => {
      expect(await serveThenStop("/dev/full")).toBe(0);
    }, 60_000);

    test("a pipe that nobody reads", async () => {
      const path = join(folder.path(), "pipe");
      execFileSync("mkfifo", [path]);
      const reader = openSync(path, "r+");
      expect(await serveThenStop(path)).toBe(0);
      closeSync(reader);
    }, 60_000);
  },
);
