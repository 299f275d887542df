import { exec } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../root.ts";
import { steps } from "../steps.ts";

const run = promisify(exec);

// pnpm's own commands take precedence over scripts of the same name, and it has a command `pipeline`.
test.each([".github/workflows/pipeline.yaml", ".gitlab-ci.yml"])(
  "%s reaches the pipeline through pnpm",
  async (file) => {
    const [command] = /npx .+/.exec(readFileSync(join(root, file), "utf8")) ?? [];
    const { stdout } = await run(`${command} --list`, { cwd: root });
    for (const { purpose } of steps.filter(({ runners }) => runners.includes("dagger")))
      expect(stdout).toContain(purpose);
  },
);
