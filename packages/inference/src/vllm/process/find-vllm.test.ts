import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findVllm } from "./find-vllm.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A virtual environment whose Python prints this about its vLLM. */
function environment(name: string, answer: string): string {
  const bin = join(folder, name, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "vllm"), "");
  writeFileSync(join(bin, "python"), `#!/bin/sh\n${answer}\n`, { mode: 0o755 });
  return join(folder, name);
}

test("finds the configured vLLM, or the installed one", async () => {
  const named = environment("named", 'echo "0.32.0 gpu"');
  const installed = environment("installed", 'echo "0.33.1+cpu cpu"');
  expect(await findVllm(named, installed)).toMatchObject({
    program: join(named, "bin/vllm"),
    version: [0, 32],
    isCpu: false,
  });
  expect(await findVllm(join(named, "bin/vllm"), installed)).toMatchObject({ versionText: "0.32.0" });
  expect(await findVllm(undefined, installed)).toMatchObject({ version: [0, 33], isCpu: true });
});

test.each([
  ["one that is too old", 'echo "0.9.1 gpu"', /is vLLM 0\.9\.1; at least 0\.20 is needed/],
  ["a Python that knows of none", 'echo " gpu"', /is not vLLM/],
  ["a Python that fails", "exit 1", /is not vLLM/],
])("%s: a sentence", async (name, answer, why) => {
  await expect(findVllm(environment(name.replaceAll(" ", "-"), answer), folder)).rejects.toThrow(why);
});
