import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { prepareEnvironment } from "../ci/python/environment.ts";
import { workFolder } from "./work-folder.ts";

export { MissingProgramError } from "../ci/python/environment.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));

/** Installs Schemathesis in an environment of its own, once for every lock file. @returns the path of its program @throws {MissingProgramError} */
export async function prepareSchemathesis(): Promise<string> {
  const locks = [join(folder, "requirements.lock")];
  const programs = await prepareEnvironment({ title: "Schemathesis", folder: workFolder, locks });
  return join(programs, "schemathesis");
}
