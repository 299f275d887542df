import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { findGson, isInstalled } from "../readers/languages.ts";

/**
 * The samples that guides show in tabs: a folder for each task, and in it a file for each label. The samples of our own
 * client are in `packages/client/examples`, and the readers of streams for Go and Java in `docs/readers`.
 */

export const folder = import.meta.dirname;

type Command = readonly [file: string, ...args: string[]];

/** A kind of sample: its label in the guides, and how a sample of it is run. */
export interface Kind {
  readonly label: string;
  /** The pattern of its files. */
  readonly files: string;
  /** The program that the machine must have. */
  readonly needs: string;
  /** Prepares what all samples of the kind need. */
  readonly prepare?: (scratch: string) => Promise<void>;
  readonly command: (path: string, scratch: string) => Command;
}

/** Packages of PyPI, in the versions that the guides were tested with. */
const pythonPackages = ["openai==3.57.0", "httpx==0.28.1"];

/** A virtual environment that stays for the next run. It is replaced when the packages change. */
const environmentOfPython = join(
  tmpdir(),
  `parley-examples-${createHash("sha256").update(pythonPackages.join()).digest("hex").slice(0, 12)}`,
);

export const kinds: readonly Kind[] = [
  {
    label: "curl",
    files: "*/curl.sh",
    needs: "curl",
    command: (path) => ["bash", "-eu", path],
  },
  {
    label: "TypeScript · openai",
    files: "**/openai.ts",
    needs: "node",
    command: (path) => [process.execPath, path],
  },
  ...(["openai", "httpx"] as const).map((library) => ({
    label: `Python · ${library}`,
    files: `*/with_${library}.py`,
    needs: "python3",
    prepare: installPython,
    command: (path: string): Command => [
      join(environmentOfPython, "bin/python"),
      "-B",
      path,
    ],
  })),
  {
    label: "Go",
    files: "*/main.go",
    needs: "go",
    prepare: (scratch) => run("go", ["build", "-o", `${scratch}/`, "./..."]),
    command: (path, scratch) => [join(scratch, basename(dirname(path)))],
  },
  {
    label: "Java",
    files: "*/*.java",
    needs: "javac",
    prepare: (scratch) =>
      run("javac", [
        "-cp",
        findGson(scratch),
        "-d",
        join(scratch, "classes"),
        ...filesOf("*/*.java"),
      ]),
    command: (path, scratch) => [
      "java",
      "-cp",
      `${join(scratch, "classes")}:${findGson(scratch)}`,
      basename(path, ".java"),
    ],
  },
];

export const filesOf = (pattern: string): string[] =>
  globSync(pattern, { cwd: folder }).toSorted();

export const missingFor = ({ needs }: Kind): string =>
  isInstalled(needs) ? "" : needs;

/** Creates the virtual environment under another name, so an interrupted installation is never taken for a complete one. */
async function installPython(): Promise<void> {
  if (existsSync(environmentOfPython)) return;
  const half = `${environmentOfPython}-${process.pid}`;
  await run("python3", ["-m", "venv", half]);
  await run(join(half, "bin/pip"), [
    "install",
    "--quiet",
    "--disable-pip-version-check",
    ...pythonPackages,
  ]);
  if (existsSync(environmentOfPython)) rmSync(half, { recursive: true });
  else renameSync(half, environmentOfPython);
}

async function run(program: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(program, args, { cwd: folder });
}
