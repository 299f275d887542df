import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exitCodeOf } from "@parley/common/exit-code";
import { argumentsOf } from "../ci/schemathesis.ts";
import type { Bounds } from "../ci/schemathesis.ts";
import { workFolder } from "./work-folder.ts";
import type { Target, TargetName } from "./target.ts";

export interface Run extends Bounds {
  /** The file that gets a line per answer. */
  readonly record: string;
  /** The file that gets the output of Schemathesis. */
  readonly log: string;
  /** Disables the grammar and other guidance, so that a test can check that the depth meter rejects a shallow run. */
  readonly isShallow?: boolean;
}

export type FuzzTarget = Target & { readonly name: TargetName };

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** @returns the exit code of Schemathesis: 0 when it found nothing */
export async function runSchemathesis(
  program: string,
  target: FuzzTarget,
  run: Run,
  stop?: AbortSignal,
): Promise<number> {
  const { source, record, log, isShallow = false } = run;
  const isAdmin = source === "admin";
  const contract = fileURLToPath(import.meta.resolve(`@parley/contract/${isAdmin ? "admin" : "contract"}.json`));
  const config = path(`${isAdmin ? "admin" : "schemathesis"}.toml`);
  const output = createWriteStream(log);
  await once(output, "open");
  const own = {
    HYPOTHESIS_STORAGE_DIRECTORY: join(workFolder, "hypothesis"),
    PYTHONPATH: path("."),
    PYTHONDONTWRITEBYTECODE: "1",
    PARLEY_URL: target.url,
    FUZZ_CONTRACT: contract,
    FUZZ_RUN_CONFIG: JSON.stringify({ ...target, source, record, isShallow }),
  };
  const child = spawn(program, argumentsOf(run, { config, contract }), {
    // Its other files must not be written into the tree.
    cwd: workFolder,
    stdio: ["ignore", output, output],
    env: { ...process.env, ...own },
  });
  const interrupt = (): void => void child.kill("SIGINT");
  stop?.addEventListener("abort", interrupt);
  const code = await exitCodeOf(child);
  stop?.removeEventListener("abort", interrupt);
  output.end();
  return code;
}
