import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { didNotRun } from "../ci/step.ts";
import { MissingProgramError, prepareSchemathesis } from "./python.ts";
import { workFolder } from "./work-folder.ts";

// Installs Schemathesis from its lock file for the steps of a host, once. The pipeline uses an image instead.

try {
  const program = await prepareSchemathesis();
  const link = join(workFolder, "bin");
  mkdirSync(workFolder, { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(dirname(program), link);
} catch (error) {
  if (!(error instanceof MissingProgramError)) throw error;
  process.stdout.write(`the fuzzer did not run: ${error.message}\n`);
  process.exitCode = didNotRun;
}
