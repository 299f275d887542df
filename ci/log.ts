import { join } from "node:path";
import { root } from "./root.ts";
import type { RunnerName, Step } from "./step.ts";

/** In `.gitignore`. The pipeline's dry run, which is a test, must not write over the logs of the host that runs it. */
const folders: Readonly<Record<RunnerName, string>> = { host: ".parley/ci", dagger: ".parley/ci/dagger" };

/** The file that has all that a step prints; on a host its services, too. */
export const logFileOf = (runner: RunnerName, { name }: Step): string =>
  join(root, folders[runner], `${name.replaceAll(":", "-")}.log`);
