import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Manifest } from "./manifests.ts";
import { pnpm } from "./pnpm.ts";
import { root } from "./root.ts";

/** The package managers with which partners install packages. */
const managers = {
  npm: ["npm", "install", "--silent", "--no-audit", "--no-fund"],
  pnpm: [...pnpm, "add", "--silent"],
  bun: [...bun(), "add", "--silent"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The ways in which a project of a partner may resolve imports. */
const resolutions = {
  nodenext: ["--module", "nodenext"],
  bundler: ["--module", "esnext", "--moduleResolution", "bundler"],
} as const;

/**
 * Uses a packed package as partners do: each package manager installs it in an empty project. There its types are checked
 * with each way to resolve imports, Node and Bun import it, and each of its commands says its version.
 * @param folder an empty folder
 * @returns the faults, each as a sentence
 */
export function usePackage(tarball: string, manifest: Manifest, folder: string): string[] {
  return Object.entries(managers).flatMap(([manager, command]) => {
    const project = join(folder, manager);
    makeProject(project, manifest.name);
    const faults = [
      ...attempt(project, [...command, tarball]),
      ...attempt(project, ["node", "main.mjs"]),
      ...(manager === "bun" ? attempt(project, [...bun(), "run", "main.mjs"]) : []),
      ...Object.values(resolutions).flatMap((flags) => attempt(project, [...compile, ...flags, "main.mts"])),
      ...Object.keys(manifest.bin ?? {}).flatMap((name) => askVersion(project, name, manifest.version)),
    ];
    return faults.map((fault) => `${manifest.name}, installed with ${manager}: ${fault}`);
  });
}

/** Bun has 100 MB, so npm downloads it on first use and keeps it. */
function bun(): readonly string[] {
  const { catalog } = parse(readFileSync(join(root, "pnpm-workspace.yaml"), "utf8")) as {
    readonly catalog: { readonly bun: string };
  }; // our own file
  return ["npx", "--yes", `bun@${catalog.bun}`];
}

function makeProject(project: string, name: string): void {
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }));
  const use = `import * as library from ${JSON.stringify(name)};\n`;
  writeFileSync(join(project, "main.mjs"), `${use}if (Object.keys(library).length === 0) throw new Error("empty");\n`);
  const wrong = "// @ts-expect-error a package without types would have every member\nlibrary.notThere;\n";
  writeFileSync(join(project, "main.mts"), `${use}${wrong}`);
}

const strict = "--noEmit --strict --exactOptionalPropertyTypes --target es2022 --lib es2023,dom,dom.asynciterable";
const compile = [join(root, "node_modules/.bin/tsc"), ...strict.split(" "), "--types", "node", "--typeRoots"].concat(
  join(root, "node_modules/@types"),
);

/** Runs a command. @returns its output if it fails */
function attempt(cwd: string, [program = "", ...args]: readonly string[]): string[] {
  try {
    execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    return [];
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string }; // Node's own
    return [`${[program, ...args].join(" ")} failed: ${(stdout + stderr).trim() || String(error)}`];
  }
}

function askVersion(project: string, name: string, version: string): string[] {
  const told = execFileSync(join(project, "node_modules/.bin", name), ["--version"], { encoding: "utf8" }).trim();
  return told === version ? [] : [`${name} --version says ${told}, and the package is ${version}`];
}
