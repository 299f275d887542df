import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { exitCodeOf } from "@parley/common/exit-code";
import { didNotRun } from "../step.ts";
import { MissingProgramError, prepareEnvironment } from "./environment.ts";

// Runs a command in the environment that checks the Python of the tree: ruff, and the imports of the checked code except
// torch. The first run installs it. `node ci/python/run.ts ruff check`

const root = fileURLToPath(new URL("../..", import.meta.url));

try {
  const programs = await prepareEnvironment({
    title: "what checks the Python code",
    folder: join(root, ".parley/python"),
    locks: [join(import.meta.dirname, "requirements.lock"), join(root, "fuzz/requirements.lock")],
  });
  process.exitCode = await runIn(programs, process.argv.slice(2));
} catch (error) {
  if (!(error instanceof MissingProgramError)) throw error;
  process.stdout.write(`the Python code was not checked: ${error.message}\n`);
  process.exitCode = didNotRun;
}

/** pyright comes from npm, and takes the Python that it finds first. */
function runIn(programs: string, [program = "python", ...args]: readonly string[]): Promise<number> {
  const path = [programs, join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
  return exitCodeOf(spawn(program, args, { cwd: root, stdio: "inherit", env: { ...process.env, PATH: path } }));
}
