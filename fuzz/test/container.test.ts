import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { didNotRun } from "../../ci/step.ts";
import { prepareContainer } from "../container.ts";
import { NotThere } from "../python.ts";

afterEach(() => void vi.unstubAllEnvs());

test("without Docker the fuzzer in a container says so, and neither passes nor fails", async () => {
  vi.stubEnv("PATH", "/nowhere");
  await expect(prepareContainer()).rejects.toThrow(NotThere);
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, "--container"], { stdio: "ignore", env: { ...process.env } });
  expect(await once(child, "exit")).toEqual([didNotRun, null]);
});
