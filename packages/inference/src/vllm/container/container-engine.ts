import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isShortage } from "../../supervision/shortage.ts";

/** docker or podman. Both accept the same commands for everything used here. */
export interface ContainerEngine {
  readonly program: "docker" | "podman";
  readonly version: string;
  /** Runs one command and resolves with its output. */
  run(...args: readonly string[]): Promise<string>;
}

/** No container engine answers, or it lacks a needed feature. The message says what to do. */
export class ContainerError extends Error {
  override name = "ContainerError";
}

const execute = promisify(execFile);

/** Finds an engine whose server answers: a program may be installed and its server not running. @throws {ContainerError} */
export async function findContainerEngine(): Promise<ContainerEngine> {
  const reasons: string[] = [];
  for (const program of ["docker", "podman"] as const) {
    const run = async (...args: readonly string[]): Promise<string> =>
      (await execute(program, args, { timeout: 60_000, maxBuffer: 2 ** 26 })).stdout.trim();
    try {
      return { program, version: await run("version", "--format", "{{.Server.Version}}"), run };
    } catch (error) {
      if (isShortage(error)) throw error; // temporary
      reasons.push(`${program}: ${reasonOf(error)}`);
    }
  }
  throw new ContainerError(
    `No container engine answers (${reasons.join("; ")}): install docker or podman, and start it.`,
  );
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return "not installed";
  return error instanceof Error
    ? (error.message.split("\n").find((line) => line !== "" && !line.startsWith("Command failed")) ?? "no answer")
    : "no answer";
}
