import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { workFolder } from "./work-folder.ts";
import type { EngineName, Target } from "./target.ts";

/**
 * What draws the requests. `grammar`: whole conversations, with each member of the contract as likely as any other, valid or
 * with one fault. `schema`: Schemathesis from the schema alone: examples, bounds, random values. `auth`: keys.
 */
export type Source = "grammar" | "schema" | "auth";

export interface Run {
  readonly source: Source;
  /** Of each operation; Schemathesis adds those of its examples and bounds. */
  readonly cases: number;
  readonly seed: number;
  /** The file that gets a line per answer. */
  readonly record: string;
  /** The file that gets the output of Schemathesis. */
  readonly log: string;
  /** The number of unique failures after which it stops. */
  readonly mostFailures?: number;
  /** Disables the grammar and all other help, so that a test can see that the depth meter fails a shallow run. */
  readonly isShallow?: boolean;
}

export type FuzzTarget = Target & { readonly engine: EngineName };

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
export const contract = fileURLToPath(import.meta.resolve("@parley/server/contract.json"));

const argsOf: Readonly<Record<Source, readonly string[]>> = {
  grammar: ["--phases", "fuzzing", "--mode", "positive", "--include-operation-id", "createChatCompletion"],
  schema: ["--phases", "examples,coverage,fuzzing", "--mode", "all"],
  auth: ["--phases", "fuzzing", "--mode", "positive", "--checks", "ignored_auth"],
};

/** How Schemathesis is called: a program of this machine, or one that runs it in a container. */
export type Schemathesis = readonly [file: string, ...args: string[]];

/** The names of the environment variables that configure it. */
export const namesForSchemathesis = [
  "HYPOTHESIS_STORAGE_DIRECTORY",
  "PYTHONPATH",
  "PYTHONDONTWRITEBYTECODE",
  "FUZZ_CONTRACT",
  "FUZZ_RUN_CONFIG",
] as const;

/** @returns the exit code of Schemathesis: 0 when it found nothing */
export async function runSchemathesis(
  [file, ...before]: Schemathesis,
  target: FuzzTarget,
  run: Run,
  stop?: AbortSignal,
): Promise<number> {
  const { source, cases, seed, record, log, mostFailures = 20, isShallow = false } = run;
  const bounds = ["--max-examples", String(cases), "--max-failures", String(mostFailures), "--seed", String(seed)];
  // The other sources choose the key themselves. It dies with the server.
  const key = source === "auth" ? ["--header", `Authorization: Bearer ${target.key}`] : [];
  const args = ["run", contract, "--url", target.url, "--no-color", ...argsOf[source], ...bounds, ...key];
  const output = createWriteStream(log);
  await once(output, "open");
  const own: Record<(typeof namesForSchemathesis)[number], string> = {
    HYPOTHESIS_STORAGE_DIRECTORY: join(workFolder, "hypothesis"),
    PYTHONPATH: path("."),
    PYTHONDONTWRITEBYTECODE: "1",
    FUZZ_CONTRACT: contract,
    FUZZ_RUN_CONFIG: JSON.stringify({ ...target, source, record, isShallow }),
  };
  const child = spawn(file, [...before, "--config-file", path("schemathesis.toml"), ...args], {
    // Whatever else it writes is not for the tree.
    cwd: workFolder,
    stdio: ["ignore", output, output],
    env: { ...process.env, ...own },
  });
  const interrupt = (): void => void child.kill("SIGINT");
  stop?.addEventListener("abort", interrupt);
  const [code] = (await once(child, "exit")) as [number | null];
  stop?.removeEventListener("abort", interrupt);
  output.end();
  return code ?? 1;
}
