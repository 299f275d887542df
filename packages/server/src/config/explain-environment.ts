import { secretNames } from "./config-schema.ts";
import { modelShortcuts } from "./default-models.ts";
import { settingNames, settings } from "./settings.ts";
import { suggest } from "./suggest.ts";

/** The variables of all settings, including those that name files of secrets. */
const known: ReadonlySet<string> = new Set([
  ...settingNames.map((name) => settings[name].env),
  ...Array.from(secretNames, (name) => `${name}_FILE`),
  ...modelShortcuts.map(({ env }) => env),
]);

/** Variables of Parley's other programs: `deploy/parley`, clients, examples, pipeline and tests. The server ignores them. */
const otherPrograms = /^PARLEY_(?:COMMAND|URL|KEY|REPORT|MUTANTS|CHROMIUM|NODE_\d+|IMAGE_[A-Z0-9_]+|TEST_[A-Z0-9_]+)$/;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Finds variables that look like settings but are not, such as misspelt names.
 * @param named variables that the configuration names, such as that of an upstream's token
 * @returns a sentence for each fault
 */
export function findUnknownVariables(env: Environment, named: ReadonlySet<string>): string[] {
  const names = Object.keys(env).filter((name) => /^parley_/i.test(name) && env[name] !== undefined);
  return names
    .filter(
      (name) => !known.has(name) && !named.has(name) && !otherPrograms.test(name) && !isServiceLink(name, env[name]),
    )
    .map(explainUnknown);
}

/**
 * Checks whether Kubernetes (or Docker's `--link`) added a variable for a service whose name begins with `parley`. It may
 * have the name of a setting, such as `PARLEY_METRICS_PORT` for a service `parley-metrics`.
 */
export const isServiceLink = (name: string, value: string | undefined): boolean =>
  /^PARLEY_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/.test(
    name,
  ) ||
  (/^PARLEY_(?:\w+_)?PORT$/.test(name) && /^(?:tcp|udp|sctp):\/\//.test(value ?? ""));

/** Returns a sentence about the variables of services that were left out, for the operator; none if there are none. */
export function explainServiceLinks(env: Environment): string[] {
  const names = Object.keys(env).filter((name) => isServiceLink(name, env[name]));
  if (names.length === 0) return [];
  const shown = names.toSorted().slice(0, 3).join(", ");
  const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return [
    `Left out ${shown}${more}: Kubernetes adds such variables for a Service whose name begins with "parley". To get none of them, set "enableServiceLinks: false" in the spec of the pod.`,
  ];
}

/** Names are compared without the prefix that all of them share. */
function explainUnknown(name: string): string {
  const short = (variable: string): string => variable.toUpperCase().replace(/^PARLEY_/, "");
  const byShortName = new Map(Array.from(known, (variable) => [short(variable), variable]));
  const meant = short(name) === "" ? undefined : suggest(short(name), [...byShortName.keys()]);
  const hint =
    meant === undefined ? "take it out: start --help has all names" : `did you mean ${byShortName.get(meant)}?`;
  return `${name} is not a setting: ${hint}`;
}

/** Returns the fault of a value that has remains of an env file's syntax; undefined if it has none. */
export function explainWrapping(text: string): string | undefined {
  if (/^(["'])(?:(?!\1).)*\1$/s.test(text)) {
    return 'has quotation marks around its value: leave them out, because "docker run --env-file" and the like make them a part of it';
  }
  if (/[\r\n]$/.test(text)) {
    return "ends with a line end, as a file with the line ends of Windows leaves it: remove it";
  }
  if (/^\s|\s$/.test(text)) return "begins or ends with a blank: remove it";
  return undefined;
}
