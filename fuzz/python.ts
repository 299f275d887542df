import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { prepareEnvironment } from "../ci/python/environment.ts";
import { workFolder } from "./work-folder.ts";

export { NotThere } from "../ci/python/environment.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));

/** Schemathesis in an environment of its own, installed once for every lock file. @returns its program @throws {NotThere} */
export async function prepareSchemathesis(): Promise<string> {
  const locks = [join(folder, "requirements.lock")];
  const programs = await prepareEnvironment({ title: "Schemathesis", folder: workFolder, locks });
  return join(programs, "schemathesis");
}
