import { readFileSync } from "node:fs";

// Checks that every package in the bill of materials has an allowed licence. To accept a new licence, add it here by name.

/** SPDX identifiers of licences that let a product of any licence use, change and redistribute the package. */
const allowed = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "Python-2.0",
]);

const unlicense = "Unlicense, which is the public domain; Spectral brings it, for lint alone";
const olderField = "MIT, written in the manifest's older field `licenses`";

/** Packages with another licence, or without one in the bill, and the reason why they are accepted. `a*` matches a prefix. */
const exceptions: Readonly<Record<string, string>> = {
  "ansi-color": "BSD-3-Clause by its licence file; Dagger's SDK brings it, for the pipeline alone",
  "axe-core": "MPL-2.0; only tests of the docs use it, and nothing of it is shipped",
  bufrw: olderField,
  busboy: olderField,
  "compute-gcd": olderField,
  "compute-lcm": olderField,
  error: olderField,
  hexer: olderField,
  "get-source": unlicense,
  httpntlm: olderField,
  "lightningcss*": "MPL-2.0; only vite uses it, for tests, and nothing of it is shipped",
  "printable-characters": unlicense,
  process: "MIT by its licence file; Dagger's SDK brings it, for the pipeline alone",
  reserved: olderField,
  "stack-trace": "MIT by its licence file; newman brings it, for tests alone",
  stacktracey: unlicense,
  "stream-length": "WTFPL, which permits everything; newman brings it, for tests alone",
  streamsearch: olderField,
  "string-template": olderField,
  thriftrw: olderField,
  tweetnacl: "Unlicense, which gives all rights to everybody; newman brings it, for tests alone",
  "validate.io-*": olderField,
};

const isException = (name: string, exception: string): boolean =>
  exception.endsWith("*") ? name.startsWith(exception.slice(0, -1)) : name === exception;

/** The part of CycloneDX that is read. */
interface Component {
  readonly name: string;
  readonly version: string;
  readonly group?: string;
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string; readonly name?: string };
    readonly expression?: string;
  }[];
}

const [file = ""] = process.argv.slice(2);
const { components } = JSON.parse(readFileSync(file, "utf8")) as { readonly components: readonly Component[] }; // pnpm wrote it
const refused = components.filter((component) => !isAllowed(component));
const stale = Object.keys(exceptions).filter(
  (name) => !components.some((component) => isException(nameOf(component), name)),
);
for (const one of refused)
  process.stdout.write(`${nameOf(one)}@${one.version}: ${licenceOf(one) || "no licence"} is not allowed\n`);
for (const name of stale)
  process.stdout.write(`${name} has an exception and is no longer used: take the exception out\n`);
process.stdout.write(`${components.length} packages, ${refused.length} with a licence that is not allowed\n`);
process.exitCode = refused.length + stale.length === 0 && components.length > 0 ? 0 : 1;

function isAllowed(component: Component): boolean {
  if (Object.keys(exceptions).some((exception) => isException(nameOf(component), exception))) return true;
  const licence = licenceOf(component);
  // In `A OR B`, one allowed licence is enough. Other expressions are not supported.
  return licence
    .replaceAll(/[()]/g, "")
    .split(" OR ")
    .some((one) => allowed.has(one));
}

function licenceOf({ licenses = [] }: Component): string {
  const [first] = licenses;
  return licenses.length === 1 ? (first?.license?.id ?? first?.license?.name ?? first?.expression ?? "") : "";
}

function nameOf({ group, name }: Component): string {
  return group === undefined || group === "" ? name : `${group}/${name}`;
}
