import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The programs and their sources. They are in C because a load generator in Node would measure itself. */
const programs = {
  engine: ["engine.c", "answer.c", "buffer.c", "chunked.c", "due.c", "socket.c"],
  load: ["load.c", "response.c", "samples.c", "buffer.c", "chunked.c", "socket.c"],
} as const;

export type NativeProgram = keyof typeof programs;

/** This machine has no C compiler, or does not run Linux. */
export class NativeBuildError extends Error {
  override readonly name = "NativeBuildError";
}

const folder = import.meta.dirname;
const built = join(folder, "../../.parley/bench/native");

/**
 * Compiles a program if its sources have changed. @returns its path
 * @throws {NativeBuildError}
 */
export function buildNative(program: NativeProgram): string {
  if (process.platform !== "linux")
    throw new NativeBuildError("The programs of the bench use epoll and /proc: they need Linux.");
  const path = join(built, `${program}-${hashOfSources()}`);
  if (existsSync(path)) return path;
  mkdirSync(built, { recursive: true });
  const compiler = process.env["CC"] ?? "cc";
  const args = ["-O2", "-Wall", "-Wextra", "-std=gnu17", "-o", path, ...programs[program]];
  const { status, error, stderr } = spawnSync(compiler, args, { cwd: folder, encoding: "utf8" });
  if (error)
    throw new NativeBuildError(
      `There is no C compiler called ${compiler}. Install one (Debian: gcc and libc6-dev), or name one with CC.`,
    );
  if (status !== 0) throw new Error(`${compiler} could not compile ${program}:\n${stderr}`);
  return path;
}

function hashOfSources(): string {
  const hash = createHash("sha256");
  for (const file of readdirSync(folder)
    .filter((name) => /\.[ch]$/.test(name))
    .toSorted())
    hash.update(file).update(readFileSync(join(folder, file)));
  return hash.digest("hex").slice(0, 12);
}
