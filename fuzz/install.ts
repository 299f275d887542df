import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { didNotRun } from "../ci/step.ts";
import { NotThere, prepareSchemathesis } from "./python.ts";
import { workFolder } from "./work-folder.ts";

// Puts Schemathesis where a host's step finds it, installed from its lock once. In the pipeline it has an image.

try {
  const program = await prepareSchemathesis();
  const link = join(workFolder, "bin");
  mkdirSync(workFolder, { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(dirname(program), link);
} catch (error) {
  if (!(error instanceof NotThere)) throw error;
  process.stdout.write(`the fuzzer did not run: ${error.message}\n`);
  process.exitCode = didNotRun;
}
