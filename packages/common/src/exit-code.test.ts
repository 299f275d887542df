import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { exitCodeOf } from "./exit-code.ts";

test.each([
  ["ends well", "true", 0],
  ["fails", "exit 7", 7],
  ["is ended by a signal", "kill -9 $$", 1],
])("a program that %s has an exit code", async (_title, script, code) => {
  expect(await exitCodeOf(spawn("sh", ["-c", script]))).toBe(code);
});

test("a program that cannot be started has none", async () => {
  await expect(exitCodeOf(spawn("/nonexistent/program"))).rejects.toMatchObject({ code: "ENOENT" });
});
