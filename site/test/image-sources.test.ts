import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";

/** The build of the docs in the server's image, without a Docker engine. */

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "parley-image-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The files that `deploy/server.Dockerfile` copies, but for the weights. */
function copiedPaths(): string[] {
  const lines = readFileSync(join(root, "deploy/server.Dockerfile"), "utf8").matchAll(/^COPY (?!--)(.+) \S+$/gm);
  return [...lines].flatMap(([, paths = ""]) => paths.split(" ")).filter((path) => path !== "demo-models");
}

test("the files in the server's image are enough to build the docs", { timeout: 60_000 }, async () => {
  for (const path of copiedPaths()) {
    const to = join(folder, path);
    mkdirSync(dirname(to), { recursive: true });
    cpSync(join(root, path), to, { recursive: true, filter: (file) => !file.includes("node_modules") });
    // The image installs these packages.
    if (path.endsWith("package.json"))
      symlinkSync(join(root, dirname(path), "node_modules"), join(dirname(to), "node_modules"));
  }
  const { stdout } = await promisify(execFile)(process.execPath, ["site/src/main.ts"], { cwd: folder });
  expect(stdout.trim()).toContain(join(folder, "site/dist"));
});
