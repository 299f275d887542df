import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "./tree.ts";

/** The Node that `launch.mjs` chooses, on machines that have one and on those that have none that is new enough. */

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-launch-"));
  writeFileSync(join(folder, "program.mjs"), 'process.stdout.write(process.env.NODE_OF_MACHINE ?? "installed");');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Makes a `node` of the machine that says it has this version. @returns the folder for the PATH */
function installNode(version: string): string {
  const path = join(folder, version);
  mkdirSync(path);
  const script = `#!/bin/sh
if [ "$1" = --version ]; then echo ${version}; else NODE_OF_MACHINE=${version} exec "${process.execPath}" "$@"; fi
`;
  writeFileSync(join(path, "node"), script);
  chmodSync(join(path, "node"), 0o755);
  return path;
}

/** Runs the launcher as pnpm does: the installed Node is first on the PATH. */
function launch(flags: readonly string[], machine: string): string {
  const args = ["launch.mjs", ...flags, relative(root, join(folder, "program.mjs"))];
  const path = [join(root, "node_modules/.bin"), machine, "/usr/bin", "/bin"].join(":");
  const { stdout, stderr } = spawnSync("node", args, { cwd: root, encoding: "utf8", env: { PATH: path } });
  return stdout + stderr;
}

test("the server runs with a Node 24 or newer of the machine, even where another one is installed", () => {
  expect(launch(["--prod"], installNode("v26.1.0"))).toBe("v26.1.0");
});

test("the server runs with the installed Node where that of the machine is older", () => {
  expect(launch(["--prod"], installNode("v22.9.0"))).toBe("installed");
});

test("development runs with the installed Node", () => {
  expect(launch([], installNode("v26.2.0"))).toBe("installed");
});
