import { join } from "node:path";
import { root } from "./root.ts";
import type { RunnerName, Step } from "./step.ts";

type Place = RunnerName | "copies";

/** Folders in `.gitignore`. Each place has its own, so that tests of the pipeline do not overwrite the logs of the host. */
const folders: Readonly<Record<Place, string>> = {
  host: ".parley/ci",
  copies: ".parley/ci/copies",
  dagger: ".parley/ci/dagger",
};

/** Returns the file with the output of a step; on a host also with that of its services. */
export const logFileOf = (place: Place, { name }: Step): string =>
  join(root, folders[place], `${name.replaceAll(":", "-")}.log`);
