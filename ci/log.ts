import { join } from "node:path";
import { root } from "./root.ts";
import type { RunnerName, Step } from "./step.ts";

type Place = RunnerName | "copies";

/** In `.gitignore`. Tests run the pipeline dry and steps in copies: they must not write over the logs of the host. */
const folders: Readonly<Record<Place, string>> = {
  host: ".parley/ci",
  copies: ".parley/ci/copies",
  dagger: ".parley/ci/dagger",
};

/** The file that has all that a step prints; on a host its services, too. */
export const logFileOf = (place: Place, { name }: Step): string =>
  join(root, folders[place], `${name.replaceAll(":", "-")}.log`);
