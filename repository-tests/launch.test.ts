import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "./tree.ts";

/** The Node that `launch.mjs` chooses, in a tree whose packages are installed. */

let tree = "";
beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), "parley-launch-"));
  copyFileSync(join(root, "launch.mjs"), join(tree, "launch.mjs"));
  writeFileSync(join(tree, "program.mjs"), "process.stdout.write(process.env.WHICH_NODE);");
  writeFileSync(join(tree, "pnpm-lock.yaml"), "");
  installNode("node_modules/.bin", "v24.0.0");
  writeFileSync(join(tree, "node_modules/.parley-installed"), `${createHash("sha256").digest("hex")} all`);
});
afterAll(() => rmSync(tree, { recursive: true, force: true }));

/** Makes a `node` that says it has this version. @returns its folder */
function installNode(folder: string, version: string): string {
  const path = join(tree, folder);
  mkdirSync(path, { recursive: true });
  const script = `#!/bin/sh
if [ "$1" = --version ]; then echo ${version}; else WHICH_NODE=${version} exec "${process.execPath}" "$@"; fi
`;
  writeFileSync(join(path, "node"), script);
  chmodSync(join(path, "node"), 0o755);
  return path;
}

/** Runs the launcher as pnpm does: the installed Node is first on the PATH. */
function launch(flags: readonly string[], machineNode: string): string {
  const path = [join(tree, "node_modules/.bin"), machineNode, "/usr/bin", "/bin"].join(":");
  const args = ["launch.mjs", ...flags, "program.mjs"];
  const { stdout, stderr } = spawnSync("node", args, { cwd: tree, encoding: "utf8", env: { PATH: path } });
  return stdout + stderr;
}

test("the server runs with a Node 24 or newer of the machine, even where another one is installed", () => {
  expect(launch(["--prod"], installNode("newer", "v26.1.0"))).toBe("v26.1.0");
});

test("the server runs with the installed Node where that of the machine is older", () => {
  expect(launch(["--prod"], installNode("older", "v22.9.0"))).toBe("v24.0.0");
});
